"""`kmem import`, and following the transcripts of programs."""
