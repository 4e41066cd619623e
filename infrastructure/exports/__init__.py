"""Tables and pictures of results as files."""
