"""Circuits as they are simulated: prepared, run, measured, and told why they do not converge."""
