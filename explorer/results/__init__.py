"""Results of the actions of an Exploration: runs, values, comparisons, costs, scripts."""
