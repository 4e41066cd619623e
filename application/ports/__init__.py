"""What the application needs from the outside, as protocols named by role.

Adapters in infrastructure do not inherit these; bootstrap's annotated fields make mypy check them.
"""
