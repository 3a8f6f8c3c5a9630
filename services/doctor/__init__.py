"""Diagnosis of a server: facts are gathered, then judged.

`gather` asks the server, RQ's Redis, the disk and the clock, and does not raise if one of them fails.
`judge` is pure, so its findings are tested on made-up facts, and `gather` on a real server.
"""

from services.doctor.checks import judge
from services.doctor.facts import gather
from services.doctor.findings import Finding, Level

__all__ = ["Finding", "Level", "gather", "judge"]
