"""The prompt settings: a dialog over the task templates, the identity and the user's preferences."""
