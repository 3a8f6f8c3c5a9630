"""Web push: notifications that a browser shows when no page is open (RFC 8030, 8291, 8292)."""
