"""Rewrites a user's function in memory, tries it, and compares it in eager."""
