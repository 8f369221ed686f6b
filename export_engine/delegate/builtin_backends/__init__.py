"""The delegation backends that come with Export Explorer."""
