"""Powerdrain."""
