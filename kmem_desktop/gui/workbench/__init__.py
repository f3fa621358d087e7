"""A task, the rules it gets, and the block that an assistant reads."""
