"""The settings: their fields, where they are read, and the values that they take."""
