"""Protects the user's state while their code is traced: snapshot, silence, restore."""
