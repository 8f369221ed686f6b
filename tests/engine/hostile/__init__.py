"""Hostile archives, made of harmless ones: `corpus.py` lists them, `worker.py` opens them."""
