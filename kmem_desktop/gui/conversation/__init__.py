"""A conversation as it was: its turns, drawn as they come into sight, and searched."""
