"""From what a user has to an Exploration: a call, a file, a program, a model in use."""
