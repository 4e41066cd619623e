"""How the goals of circuits stand, measured in runs that nobody keeps."""
