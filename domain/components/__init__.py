"""Components: what libraries hold, how they are searched, what a circuit is built of."""
