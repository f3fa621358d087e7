"""Rules: reading them, telling what a task is about, and choosing those that matter. Pure."""
