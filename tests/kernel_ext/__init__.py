"""Tests of the magics, in an IPython of their own."""
