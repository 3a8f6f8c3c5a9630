"""The web: pages for people, in the same application as the API and on the same functions."""
