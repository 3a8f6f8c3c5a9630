"""The witness over HTTP: a program of its own, apart from any match server."""
