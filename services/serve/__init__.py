"""`matchpost serve`: everything on one machine, each part a supervised process."""
