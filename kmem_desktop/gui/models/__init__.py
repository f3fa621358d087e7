"""AI models in the window: who serves them, what they are used for, what left the computer."""
