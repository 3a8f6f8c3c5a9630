"""Text for people: matches, dates, conditional moves."""
