"""Mū tōrere."""
