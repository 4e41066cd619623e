"""The agent loop: a sub-graph of model answers and tool results."""
