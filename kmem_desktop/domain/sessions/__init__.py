"""The nouns of conversations, with their limits."""
