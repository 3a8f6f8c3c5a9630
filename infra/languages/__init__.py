"""Languages: which there are, their catalogues, and dates, spans and numbers in each."""
