"""Rule documents: reading them from every notation, and writing them back. Pure."""
