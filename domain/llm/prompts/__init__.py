"""Prompts as data: templates with placeholders, the identity, and what is made of them."""
