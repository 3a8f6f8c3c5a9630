"""What is wrong with a server, and what to do about it: facts are gathered, then judged.

`gather` asks the server, RQ's Redis, the disk and the clock, and never raises for what it finds;
`judge` is pure. So a finding can be tested on facts that are made up, and the asking on a server.
"""

from services.doctor.checks import judge
from services.doctor.facts import gather
from services.doctor.findings import Finding, Level

__all__ = ["Finding", "Level", "gather", "judge"]
