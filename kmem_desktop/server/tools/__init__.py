"""The tools that assistants call, by profile."""
