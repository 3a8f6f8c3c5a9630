"""The pure core of matchpost: games, matches, drawings. No I/O, no clock, no chance."""
