"""The settings of the user in one dialog."""
