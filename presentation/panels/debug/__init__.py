"""The tab "Debug" at the right."""
