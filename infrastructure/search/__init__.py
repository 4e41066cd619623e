"""The index of a project's texts (``.circuit_ai/search.sqlite``) and what fills and asks it."""
