"""What stands beside a list: one item, its form, its history."""
