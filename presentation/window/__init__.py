"""The main window: its frame, its start and end, and what its panels share."""
