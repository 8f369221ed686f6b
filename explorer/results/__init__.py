"""What the actions of an Exploration return: runs, values, comparisons, costs, scripts."""
