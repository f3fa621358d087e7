"""What a search finds and another page is about: turns and directives."""
