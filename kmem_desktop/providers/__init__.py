"""AI models: the bundled one, and those that other programs and services offer."""
