"""Documents about circuits: what they tell, gathered from the files, a run and the rounds of a design."""
