"""Searching a project: what a query means, how rankings are joined."""
