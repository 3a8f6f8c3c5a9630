"""The `matchpost` command and its subcommands."""
