"""The publisher: the published log, written from the logs in Redis."""
