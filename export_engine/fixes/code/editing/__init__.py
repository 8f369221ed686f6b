"""How a function of the user's is rewritten in memory, tried, and compared in eager."""
