"""Opens what a user has as an Exploration: a call, a file, a program, a model in use."""
