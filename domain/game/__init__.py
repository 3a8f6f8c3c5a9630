"""A game: its rules, options, drawings and hints for the engine, and the package that has them all."""
