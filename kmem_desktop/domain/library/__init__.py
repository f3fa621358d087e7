"""Copies of the memory, its tags, what it is made of, and its picture."""
