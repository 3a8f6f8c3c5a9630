"""The site's own texts, its logo, and the announcement that a visitor closes."""
