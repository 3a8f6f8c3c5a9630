"""The HTTP API: the door for programs."""
