"""Tests of the Python side of the widgets."""
