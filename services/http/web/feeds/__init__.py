"""Feeds: what programs read at the address of a page."""
