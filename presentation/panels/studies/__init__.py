"""The studies of a circuit: set-ups, runs, and what came of them."""
