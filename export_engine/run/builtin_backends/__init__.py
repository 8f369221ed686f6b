"""One module per backend that comes with Export Explorer."""
