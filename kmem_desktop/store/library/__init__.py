"""Rows of every noun as copies, counts and pictures of the memory read them."""
