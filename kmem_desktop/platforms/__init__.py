"""The operating system: folders, locks, start at login."""
