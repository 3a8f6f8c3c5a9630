"""The plumbing of Redis: clients, pipelines, scripts and the names of all keys. It knows no feature."""
