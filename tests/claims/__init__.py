"""One claim per test: what is said of a program is what was tried."""
