"""Readers of other programs' conversations and memories: streams in, kmem's nouns out."""
