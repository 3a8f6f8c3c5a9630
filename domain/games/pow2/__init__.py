"""The Power of Two."""
