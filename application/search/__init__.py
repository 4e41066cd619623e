"""Searching a project."""
