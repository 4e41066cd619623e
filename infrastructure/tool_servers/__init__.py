"""Servers of the Model Context Protocol, asked as a client."""
