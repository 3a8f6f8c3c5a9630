"""Web push: what notifications in browsers say."""
