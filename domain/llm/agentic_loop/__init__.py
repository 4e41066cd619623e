"""The rules of the agent's loop, as pure functions of what a turn's transcript says."""
