"""Fixes of branches and choices on data and on sizes."""
