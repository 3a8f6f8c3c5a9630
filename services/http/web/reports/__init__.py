"""Reports, decisions on them, and sanctions."""
