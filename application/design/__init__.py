"""Workflow mode: a design from its goals, round by round, and its sessions."""
