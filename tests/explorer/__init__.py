"""Tests of `explorer`: sessions, reports, lessons, the command line."""
