"""`matchpost bench`: measurements side by side with other ways to do the same work, in one run."""
