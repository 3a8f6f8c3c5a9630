"""Facts in words, each in one place: for pages, terminal, mail, notifications and the API, in the reader's language."""
