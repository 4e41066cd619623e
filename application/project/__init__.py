"""A project as the window meets it: its files, edits, what can be undone, what was open."""
