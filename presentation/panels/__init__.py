"""The panels of the main window, one package or module each."""
