"""The HTTP API: the front end for programs."""
