"""Conversations: the list of them, and the window in which one is read and gone on with."""
