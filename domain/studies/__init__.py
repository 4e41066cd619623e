"""Many runs of one circuit and what they tell: sweeps, corners, tolerances, sensitivity, search."""
