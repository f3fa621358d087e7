"""The inbox: what was taken from conversations, and the decisions about it."""
