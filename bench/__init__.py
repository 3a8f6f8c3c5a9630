"""`python -m bench`: measurements of matchpost beside other programs, in one run."""
