"""Linear regression: Y = W chi + rho, its solution, and how far that can be believed."""
