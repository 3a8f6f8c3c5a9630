"""What boards of several games have in common: places, how they are joined, how they are drawn."""
