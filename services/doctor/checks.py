"""The doctor's checks: facts in, findings out."""

from collections.abc import Callable, Iterator
from typing import Final

from infra.health.queue_status import LaneStatus, QueueStatus
from infra.process.machine import TOO_FEW
from infra.projections.lag import Lag
from infra.projections.projection import SAVE_SECONDS
from infra.redis.keys import dead_letters
from infra.store.leases import LEASE_MS, REQUEST_MS, REQUESTED
from services.doctor.backups import check_backups
from services.doctor.clocks import check_clocks
from services.doctor.directory import DirectoryFacts
from services.doctor.durability import check_access, check_durability
from services.doctor.facts import Facts
from services.doctor.findings import (
    GIB,
    MIB,
    Finding,
    Level,
    bad,
    count,
    note,
    ok,
    size_of,
    span,
    warn,
)
from services.doctor.jobs import check_robots, check_scrub
from services.doctor.memory import check_memory
from services.doctor.processes import check_outgoing_mail, check_processes, check_secrets
from services.doctor.published_log import (
    check_archive,
    check_published_log,
    check_witnesses,
)
from services.lane_texts import division, idle_workers

LATE_MS: Final = 15_000
"""A command that waits longer was lost, because a drain takes milliseconds."""

LISTS_LATE_MS: Final = LATE_MS + int(SAVE_SECONDS * 1_000)
"""A projection is behind if it seems to be so for longer: what changes nothing in it is stored some seconds later."""

SLOW_MS: Final = 3_000

SLOW_FSYNC_MS: Final = 20.0

WARN_SPACE: Final = 2 * GIB
BAD_SPACE: Final = 256 * MIB

Check = Callable[[Facts], Iterator[Finding]]


def judge(facts: Facts) -> list[Finding]:
    """Return all findings, in the order of the checks."""
    return [finding for check in CHECKS for finding in check(facts)]


def _server(facts: Facts) -> Iterator[Finding]:
    if facts.server is None:
        started = "start it with `matchpost serve`, or look at its log"
        remedy = "check that it runs and MATCHPOST_REDIS_URL is right"
        yield bad("server", facts.unreachable, remedy if facts.settings.redis_url else started)
        return
    server = facts.server
    if server.nodes > 1:
        since = f"each up {span(server.uptime)} or longer"
        yield ok("server", f"{server.name}: a cluster of {server.nodes} nodes answers, {since}")
    else:
        yield ok("server", f"{server.name} answers, process {server.pid}, up {span(server.uptime)}")
    yield from check_durability(facts.settings, server)
    yield from check_access(server)


def _shape(facts: Facts) -> Iterator[Finding]:
    server = facts.server
    if server is None:
        return
    if server.shape is None:
        what, _, remedy = server.no_shape.partition("; ")
        if remedy:
            yield bad("data", what, remedy)
        else:
            yield note("data", f"{server.no_shape}; `matchpost serve` creates it")
        return
    shape = server.shape
    yield ok("data", division(shape))
    if shape.shards != facts.settings.shards:
        yield note(
            "data",
            f"the setting `shards` is {facts.settings.shards} and has no effect: "
            f"the data was created with {shape.shards}",
        )


def _inboxes(facts: Facts) -> Iterator[Finding]:
    server = facts.server
    if server is None or server.shape is None:
        return
    waiting = sum(shard.waiting for shard in server.shards)
    late = [s for s in server.shards if s.oldest and server.clock - s.oldest > SLOW_MS]
    if not late:
        yield ok("inbox", f"{count(waiting, 'command waits', 'commands wait')}")
    for shard in late:
        age = server.clock - (shard.oldest or 0)
        what = (
            f"{count(shard.waiting, 'command waits', 'commands wait')} in shard {shard.number}, "
            f"the oldest for {span(age // 1000)}"
        )
        remedy = "see the findings on workers and lanes, and the log of `serve`"
        yield (bad if age > LATE_MS else warn)("inbox", what, remedy)
    for shard in server.shards:
        if shard.waiting >= facts.settings.queue_cap:
            yield bad(
                "inbox",
                f"the inbox of shard {shard.number} is full: commands are refused as `busy`",
                "raise MATCHPOST_WORKERS or MATCHPOST_QUEUE_CAP",
            )


def _entries(facts: Facts) -> Iterator[Finding]:
    for shard in facts.server.shards if facts.server else ():
        if shard.aside:
            yield bad(
                "inbox",
                f"{count(shard.aside, 'entry', 'entries')} of shard {shard.number} could not be "
                "decoded",
                f"they are kept in the stream {dead_letters(shard.number)}; find out which "
                "program wrote them, then delete it",
            )
        if shard.tries:
            yield warn(
                "inbox",
                f"a command of shard {shard.number} has failed, or was cut off, "
                f"{count(shard.tries, 'time', 'times')}",
                "look at the log of `serve`; the command is refused as `internal` after 3 attempts",
            )


def _damage(facts: Facts) -> Iterator[Finding]:
    boards = facts.server.damaged if facts.server else ()
    if boards:
        some = ", ".join(map(str, boards[:10]))
        yield bad(
            "matches",
            f"{count(len(boards), 'match', 'matches')} can't be read: {some}"
            f"{' and others' if len(boards) > 10 else ''}",  # noqa: PLR2004 - the length of that list
            f"`matchpost verify {boards[0]}` says what is wrong; check the disk and restore the data from "
            "a copy; a match leaves this list when `matchpost verify` finds it intact",
        )


def _workers(facts: Facts) -> Iterator[Finding]:
    queue = facts.queue
    if queue is None:
        if facts.queue_unreachable:
            own = facts.settings.queue_url or facts.settings.redis_url
            remedy = (
                "check that it runs and MATCHPOST_QUEUE_URL is right"
                if own
                else "`matchpost serve` starts it again; look at its log, `queue/valkey.log`"
            )
            yield bad("workers", facts.queue_unreachable, f"{remedy}; no move is lost meanwhile")
        return
    yield _worker_count(facts, queue)
    if queue.suspended:
        yield warn(
            "workers",
            "the workers are suspended: commands are taken, and none is decided",
            "`rq resume` ends it",
        )
    for gone in (worker for worker in queue.deciding if not worker.alive):
        yield note("workers", f"process {gone.pid} was killed; RQ drops it within minutes")
    if failed := queue.commands.failed:
        yield note(
            "workers",
            f"{count(failed, 'job has', 'jobs have')} failed within the hour, and later jobs did "
            "the work; the log says why",
        )


def _worker_count(facts: Facts, queue: QueueStatus) -> Finding:
    alive = [worker for worker in queue.deciding if worker.alive]
    shape = facts.server.shape if facts.server else None
    lanes = shape.lanes if shape else 1
    who = ", ".join(str(worker.pid) for worker in alive)
    what = f"{count(len(alive), 'command worker', 'command workers')} for {count(lanes, 'lane', 'lanes')}"
    waiting = count(queue.commands.waiting, "job waits", "jobs wait")
    if not alive:
        remedy = (
            "`matchpost serve` starts and restarts them; check that it runs, and look at its log"
        )
        return bad("workers", f"no command worker runs; {waiting}", remedy)
    if len(alive) < lanes:
        return warn(
            "workers",
            f"{what} (process {who}); {waiting}",
            "the log of `serve` says why a worker ended",
        )
    if shape and (idle := idle_workers(len(alive), shape)):
        return note("workers", f"{idle} (process {who}); {waiting}")
    return ok("workers", f"{what} (process {who}); {waiting}")


def _lanes(facts: Facts) -> Iterator[Finding]:
    lanes = facts.queue.lanes if facts.queue else ()
    found = [finding for lane in lanes if (finding := _lane(lane))]
    if lanes and not any(finding.level > Level.NOTE for finding in found):
        yield ok("lanes", "every lane is free or being drained")
    yield from found


def _lane(lane: LaneStatus) -> Finding | None:
    if lane.holder and lane.ttl < 0:
        return bad(
            "lanes",
            f"the lease of lane {lane.lane} never ends: no worker can drain it",
            f"delete the key {{lease:{lane.lane}}} in RQ's Redis, and find out which program wrote it",
        )
    if lane.holder and lane.ttl > (REQUEST_MS if lane.holder == REQUESTED else LEASE_MS):
        return bad(
            "lanes",
            f"the lease of lane {lane.lane} has {span(lane.ttl // 1000)} left, longer than a "
            "lease lasts: the server's clock was set back",
            "correct the clock, by NTP; the next drain takes such a lease over; if it stays, "
            "check that `matchpost serve` and its workers run",
        )
    if lane.holder == REQUESTED:
        return note("lanes", f"a drain of lane {lane.lane} was requested and has not begun")
    if lane.holder:
        return note(
            "lanes",
            f"lane {lane.lane} is being drained; its lease ends in {lane.ttl / 1000:.1f} s",
        )
    if lane.unreleased:
        return warn(
            "lanes",
            f"the last drain of lane {lane.lane} was cut off, and no other has begun",
            "if that does not change, check that workers run; the log says what ended the last drain",
        )
    return None


def _projections(facts: Facts) -> Iterator[Finding]:
    lags = facts.server.projections if facts.server else ()
    clock = facts.server.clock if facts.server else 0
    found = [finding for lag in lags for finding in _projection(lag, clock)]
    if lags and not found:
        yield ok("lists", "lists, notices and ratings are up to date")
    yield from found


def _projection(lag: Lag, clock: int) -> Iterator[Finding]:
    name = lag.spec.name
    what = f"the projection `{name}`"
    for stuck in lag.failures:
        yield warn(
            "lists",
            f"{what} is stuck at {stuck.what}, since {span((clock - stuck.since) // 1000)}: "
            f"{stuck.error}",
            "look at the log of `serve`; later events of that shard are not listed, matches go on",
        )
    age = 0 if lag.oldest is None else clock - lag.oldest
    behind = f"{count(lag.events, 'event', 'events')} and {span(age // 1000)} behind"
    why = _why_rebuild(lag)
    if why and lag.building:
        yield note("lists", f"{what} is being rebuilt: {why}")
    elif why:
        newer = lag.version is not None and lag.version > lag.spec.version
        who = (
            "the newer program reads them"
            if newer
            else "the projection worker of `serve` does that"
        )
        yield warn(
            "lists", f"{what} must be rebuilt: {why}", f"{who}; else `matchpost rebuild {name}`"
        )
    elif age > LISTS_LATE_MS:
        yield warn(
            "lists",
            f"{what} is {behind}",
            "look at the projection worker's lines in the log of `serve`",
        )
    elif lag.events:
        yield note("lists", f"{what} is at most {behind}")


def _why_rebuild(lag: Lag) -> str:
    """Return why a projection must be rebuilt; empty if it is sound."""
    if lag.version is None:
        return "it has not been built yet" if lag.events else ""
    if lag.version != lag.spec.version:
        return f"it has version {lag.version}, and this program needs {lag.spec.version}"
    return "an event arrived that belongs before events it has" if lag.late else ""


def _disk(facts: Facts) -> Iterator[Finding]:
    directory = facts.directory
    # the files of another server can't be seen from this machine
    if facts.settings.redis_url is not None:
        yield note("disk", "the data is on another server, whose disk is not checked")
        return
    yield _space(directory)
    if directory.fsync_ms is None:
        if directory.exists:
            yield bad(
                "disk",
                f"nothing can be written to {directory.path}",
                "check its owner and its permissions",
            )
    elif directory.fsync_ms > SLOW_FSYNC_MS:
        yield warn(
            "disk",
            f"a sync takes {directory.fsync_ms:.1f} ms, and every move waits for one",
            "put the data directory on a faster disk",
        )
    else:
        yield ok("disk", f"a sync takes {directory.fsync_ms:.2f} ms")


def _space(directory: DirectoryFacts) -> Finding:
    what = f"{size_of(directory.free)} are free for {directory.path}"
    remedy = "free some space; no move is accepted when the disk is full"
    if directory.free < BAD_SPACE:
        return bad("disk", what, remedy)
    if directory.free < WARN_SPACE:
        return warn("disk", what, remedy)
    return ok("disk", what)


def _owner(facts: Facts) -> Iterator[Finding]:
    if facts.settings.redis_url is not None:
        return
    directory = facts.directory
    if not directory.exists:
        yield note("serve", f"there is no data directory {directory.path} yet")
    elif directory.owner is not None:
        yield ok("serve", f"process {directory.owner} owns {directory.path}")
    elif facts.server is not None:
        yield bad(
            "serve",
            f"the server runs, and the process that started it for {directory.path} is gone",
            "stop the server's process, then start `matchpost serve`",
        )
    else:
        yield note("serve", f"no process owns {directory.path}")


def _files(facts: Facts) -> Iterator[Finding]:
    what = f"a process may have {facts.files} files open"
    if facts.files >= TOO_FEW:
        yield ok("files", what)
        return
    yield warn(
        "files",
        f"{what}, and each connection is one",
        f"raise the hard limit to {TOO_FEW} or more: `LimitNOFILE=` in systemd, `ulimit -Hn`",
    )


def _games(facts: Facts) -> Iterator[Finding]:
    for broken in facts.broken_games:
        yield bad(
            "games",
            f"{broken}; matches of it are kept and can't go on",
            "repair or uninstall that distribution, and start the server again",
        )


def _draws(facts: Facts) -> Iterator[Finding]:
    for why in facts.seeds_left:
        yield Finding(
            Level.NOTE,
            "draws",
            why,
            "events after the backup are lost; delete the file `.left` beside the seeds to dismiss this",
        )


CHECKS: Final[tuple[Check, ...]] = (
    _server, _owner, check_clocks, _shape, _workers, check_processes, check_secrets, _lanes, _inboxes, _entries, _damage,
    check_scrub, check_robots,
    _projections, check_published_log, check_witnesses, check_archive, check_outgoing_mail, _disk, check_memory,
    _files, _games, _draws, check_backups,
)  # fmt: skip
"""In the order of the report."""
