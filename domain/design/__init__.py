"""Design knowledge: goals, circuit families and their published equations."""
