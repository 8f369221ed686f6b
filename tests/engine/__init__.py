"""Tests of `export_engine`, on real torch."""
