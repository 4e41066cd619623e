"""Conversations: the live session, its transcript and the use cases around it."""
