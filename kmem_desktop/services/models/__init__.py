"""AI models: who serves them, which one does what, and what leaves the computer."""
