"""Where people meet it: the command line (and, later, window and MCP server)."""
