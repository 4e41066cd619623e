"""Where people meet it: the command line (and, later, window and MCP server)."""

VERSION = "0.1.0"
"""Of the program; the same as in pyproject.toml."""
