"""The published log, and checks in the browser."""
