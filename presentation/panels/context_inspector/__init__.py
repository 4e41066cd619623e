"""The tab Context: what goes with the next message."""
