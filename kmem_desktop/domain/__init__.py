"""The nouns of kmem as frozen values, with their limits; a file a noun.

Times are aware UTC datetimes. Every row that a person would miss has a UUID; knowledge and other
searchable things also have an integer id, which is the id of their row in the one search index.
"""
