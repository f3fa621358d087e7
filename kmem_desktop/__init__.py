"""kmem: one memory for all the AI assistants on a computer, kept on that computer."""
