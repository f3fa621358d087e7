"""Use cases: the only thing that the server, the window and the command line call."""
