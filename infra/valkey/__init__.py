"""The embedded Valkey server: its binary, its data directory, its log, its process."""
