"""What must hold: of the engine, of each package above it, of the page, and of the house itself."""
