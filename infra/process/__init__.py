"""This process and its machine: files, failpoints, counters, intervals, liveness. It knows no server."""
