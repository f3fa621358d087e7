"""What opens over the window, or beside it: palette, keys, quick search."""
