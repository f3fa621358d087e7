"""Conversations: stored as they come, found, restored and summarised (seed 004)."""
