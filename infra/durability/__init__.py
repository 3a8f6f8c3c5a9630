"""The promise of Redis about a write: its check at the start, the watch while a server runs, and the notes of both."""
