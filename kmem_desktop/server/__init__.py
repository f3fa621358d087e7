"""MCP: tools, resources, and the local socket they are served on."""
