"""Looking closer at searches: why an item was not found, and tests that one must be."""
