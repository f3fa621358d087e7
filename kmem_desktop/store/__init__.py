"""SQLite: connections, schema, and one file for each noun's rows."""
