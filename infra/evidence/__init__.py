"""Evidence that others can check: match documents, how they are made, and their check without a server."""
