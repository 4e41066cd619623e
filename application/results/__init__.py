"""What became of runs: exported, tidied away."""
