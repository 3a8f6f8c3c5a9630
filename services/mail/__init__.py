"""Play by mail: reads and answers incoming mail, and writes the texts of outgoing mail."""
