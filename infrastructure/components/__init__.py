"""The index of the libraries: their components in a cache of the user."""
