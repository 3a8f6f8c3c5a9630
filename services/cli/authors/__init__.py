"""The commands for authors of games: a package that runs at once, the laws it has to keep, and a board to try it on."""
