"""`matchpost serve`: run everything on one machine, each part as a supervised process."""
