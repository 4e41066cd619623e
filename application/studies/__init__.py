"""Many runs of one circuit: sweeps, corners, Monte Carlo, worst case, sensitivity."""
