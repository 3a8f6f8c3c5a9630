"""The demo server: people, recorded games, and the months of matches that are made of them."""
