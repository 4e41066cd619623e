"""Amplifiers to be sized, with targets drawn from designs that exist."""
