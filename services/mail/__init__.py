"""Play by mail: what comes in is read and answered, and what goes out is composed."""
