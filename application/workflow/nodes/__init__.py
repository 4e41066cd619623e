"""The graph's nodes, one module each."""
