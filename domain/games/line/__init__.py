"""That's My Line."""
