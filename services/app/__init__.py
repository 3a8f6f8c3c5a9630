"""The use cases: each once, shared by every front end. No HTTP, no text of a terminal."""
