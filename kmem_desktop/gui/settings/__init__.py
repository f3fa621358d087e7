"""The settings in groups: each part is a few rows of the page Settings."""
