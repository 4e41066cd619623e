"""Running a model's tool calls: validation, effects with a log, undo, and the tools by category."""
