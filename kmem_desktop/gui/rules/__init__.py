"""The page of rules: the tree, what one of them says, and what an assistant gets for a task."""
