"""The use cases of the program in six groups, each made at its first use from what the outside gives."""
