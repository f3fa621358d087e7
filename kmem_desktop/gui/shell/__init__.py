"""What stands around the pages: rail, actions and their keys, news."""
