"""Streams of events to programs and browsers, and their limits."""
