"""The tab "Info" at the right."""
