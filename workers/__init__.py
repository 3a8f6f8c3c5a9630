"""RQ jobs and loops: the drain, the keeper."""
