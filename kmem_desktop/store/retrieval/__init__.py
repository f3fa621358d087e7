"""Rows behind retrieval tests and explanations: what an id names, and what questions must find."""
