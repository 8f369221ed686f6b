"""What the user's code does while traced and must not outlast it: snapshot, silence, restore."""
