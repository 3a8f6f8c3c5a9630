"""Metrics for Prometheus: the address of a process, and figures of the whole server. See docs/monitoring.md."""
