"""The project's tools for models of other programs, by the Model Context Protocol (`mcp PROJECT`)."""
