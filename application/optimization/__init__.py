"""The search for better values, and values tried live."""
