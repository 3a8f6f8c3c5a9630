"""The queues and jobs in RQ's Redis: JSON arguments, ids only, functions that a stock worker can import.

A job is a wake-up or a request to work, and carries no data: what is to be done waits in the inboxes, the
logs and the outbox, and a job that is lost is enqueued again. While an operator has suspended the workers
(`rq suspend`) no wake-up is enqueued.
"""

from typing import Final

COMMANDS: Final = "matchpost-commands"
"""The queue of the command workers."""

MAIL: Final = "matchpost-mail"
"""The queue of the mailer."""

PROJECTIONS: Final = "matchpost-projections"
"""The queue of the projection worker."""

PUBLISHED_LOG: Final = "matchpost-log"
"""The queue of the publisher."""

MAINTENANCE: Final = "matchpost-maintenance"
"""The queue of long jobs that an operator asks for."""

ROBOTS: Final = "matchpost-robots"
"""The queue of robots' moves."""

ANALYSIS: Final = "matchpost-analysis"
"""The queue of analyses, which wait while robots have to move."""

DRAIN: Final = "services.jobs.drain"
"""Drains a lane; its arguments are the lane's number and the count of lanes."""

SEND_MAIL: Final = "services.jobs.send_mail"
"""Does all the mailer's work for a while; it has no arguments."""

PROJECT: Final = "services.jobs.project"
"""Keeps the projections up with the logs for a while; it has no arguments."""

RETIRE: Final = "services.jobs.retire"
"""Retires the matches of a shard that ended long ago; its argument is the number of the shard."""

FREEZE: Final = "services.jobs.freeze"
"""Freezes the evidence of the cases that wait for a ruling; it has no arguments."""

DUMP: Final = "services.jobs.dump"
"""Writes the dump of finished matches, if today's is not made; it has no arguments."""

SCRUB: Final = "services.jobs.scrub"
"""Checks what is stored, for some minutes; it has no arguments."""

ROBOT_MOVE: Final = "robot_move"
"""Acts for a robot; its arguments are the board and the number of the match's last event.

No name that can be imported: only the processes of robots run it, because they keep commands between two jobs.
"""

ANALYSE: Final = "services.jobs.analyse"
"""Analyses a match; its argument is the board."""

PUBLISH: Final = "services.jobs.publish"
"""Publishes the logs for a while; it has no arguments."""

REBUILD: Final = "services.jobs.rebuild"
"""Rebuilds the projections that its arguments name."""

CHECK: Final = "services.jobs.check"
"""Compares the projections that its arguments name with rebuilt ones."""

SUSPENDED: Final = "rq:suspended"
"""RQ's key that exists while the workers are suspended."""

RESULT_SECONDS: Final = 60
"""How long a run that did something can be looked at."""


def queue_key(queue: str) -> str:
    """Return the key of RQ's list of the jobs that wait in a queue."""
    return f"rq:queue:{queue}"
