"""Players and ratings."""
