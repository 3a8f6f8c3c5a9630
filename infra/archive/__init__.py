"""The archive: matches that have ended, kept in the published log and found by directory pages."""
