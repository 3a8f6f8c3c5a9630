"""The harness of the fault runs: clients that keep a record, a checker, and what breaks things."""
