"""The picture of the knowledge graph."""
