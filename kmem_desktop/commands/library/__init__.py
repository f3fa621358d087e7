"""Commands about the memory as a whole: copies, tags, figures."""
