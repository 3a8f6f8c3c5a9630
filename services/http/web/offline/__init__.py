"""What a browser keeps of the pages, to show them without a connection."""
