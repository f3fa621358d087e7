"""Importing in the window: what was found, how far it is, which programs are followed."""
