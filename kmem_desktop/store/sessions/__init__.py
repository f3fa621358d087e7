"""Rows of conversations, of what was taken out of them, and of where they came from."""
