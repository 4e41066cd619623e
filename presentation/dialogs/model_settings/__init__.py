"""The model settings: provider, key, address, model, and whether it works."""
