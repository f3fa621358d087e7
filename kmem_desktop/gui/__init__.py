"""The window and the tray: everything a person sees."""
