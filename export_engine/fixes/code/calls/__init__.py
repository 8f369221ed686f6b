"""Fixes of single calls and indices: NumPy, writes by index, distributions, logging."""
