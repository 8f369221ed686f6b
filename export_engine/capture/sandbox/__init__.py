"""Keeps the user's state as it was while their code is traced: snapshot, silence, restore."""
