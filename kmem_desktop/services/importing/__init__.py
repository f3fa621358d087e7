"""Brings in what other programs remember."""
