"""The kernel: messages, errors, events, tasks, processes, stop. Knows no circuits and no widgets."""
