"""The page of rules: the tree, what one of them says, and what a person does with it."""
