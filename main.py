"""Entry: a folder opens the window, a sub-command runs on the command line."""
