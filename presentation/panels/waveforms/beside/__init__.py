"""What is drawn beside the curves, of the same traces: their spectrum, locus, distribution, harmonics."""
