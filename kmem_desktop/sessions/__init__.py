"""Conversations, pure: what a budget keeps of them, how they end, how others write them."""
