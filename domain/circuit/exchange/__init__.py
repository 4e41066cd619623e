"""Circuits in the words of other programs, and theirs in ours."""
