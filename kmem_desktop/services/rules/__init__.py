"""Rules: read from documents and folders, kept, and handed out for a task (seeds 001 and 002)."""
