"""The doctor's checks of processes, by their heartbeats, and of outgoing mail."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from infra.health.heartbeats import HeartbeatRecord, Role
from infra.health.status import expected_roles
from services.doctor.facts import Facts
from services.doctor.findings import Finding, bad, count, note, ok, span, warn

_LATE_MS: Final = 120_000
"""An e-mail is late after this time: twice the longest that the mailer does something else."""

_NAMES: Final[Mapping[Role, str]] = {
    Role.WORKER: "command worker",
    Role.PROJECTIONS: "projection worker",
    Role.SCHEDULER: "scheduler",
    Role.PUBLISHER: "publisher",
    Role.MAINTENANCE: "maintenance worker",
    Role.ROBOTS: "robot process",
    Role.WEB: "web process",
    Role.MAIL: "mail intake",
    Role.MAILER: "mailer",
}

_WITHOUT: Final[Mapping[Role, str]] = {
    Role.PROJECTIONS: "lists, notices and ratings are not updated; `matchpost serve` starts one",
    Role.SCHEDULER: "no reminder is sent, no flag falls and lost jobs stay lost; `matchpost serve` or "
    "`matchpost scheduler` starts one",
    Role.PUBLISHER: "no log is published; `matchpost serve` or `matchpost publisher` starts one",
    Role.MAINTENANCE: "no match leaves the memory and nothing is scrubbed; `matchpost serve` or `matchpost maintenance` "
    "starts one",
    Role.ROBOTS: "no robot moves; `matchpost serve` or `matchpost robots` starts one, and MATCHPOST_ROBOTS=0 "
    "says that there is none",
    Role.WEB: "pages and the API do not answer; `matchpost serve` or `matchpost web` starts one",
    Role.MAIL: "no mail is accepted; `matchpost serve` or `matchpost mail` starts one",
    Role.MAILER: "no mail is sent; `matchpost serve` or `matchpost mailer` starts one",
}
"""The effect of a missing process, and the advice. Command workers are counted by the queue."""


def check_processes(facts: Facts) -> Iterator[Finding]:
    """Report processes that are missing or silent, or contradict each other."""
    server = facts.server
    # without the server of the queue nobody knows of them, and that server is reported
    if server is None or server.shape is None or facts.queue is None:
        return
    there = [beat for beat in server.beats if beat.field not in server.gone]
    alive = [beat for beat in there if not beat.is_silent(server.clock)]
    found = [
        *_missing(facts, alive),
        *_silent([beat for beat in there if beat not in alive], server.clock),
        *_mail_keys(alive),
        *_seeds(alive),
    ]
    if not found:
        names = dict.fromkeys(
            _NAMES[role] for role in Role if role in {beat.role for beat in alive}
        )
        yield ok("processes", f"all send signs of life: {', '.join(names)}")
    yield from found
    if len({beat.version for beat in alive}) > 1:
        listed = ", ".join(sorted({beat.version for beat in alive}))
        yield note("processes", f"they run different versions: {listed}")


def _missing(facts: Facts, alive: Sequence[HeartbeatRecord]) -> Iterator[Finding]:
    there = {beat.role for beat in alive}
    ran = {beat.role for beat in facts.server.beats} if facts.server else set()
    for role in expected_roles(facts.settings, ran):
        if role not in there:
            found = bad if role is Role.SCHEDULER else warn
            yield found("processes", f"no {_NAMES[role]} sends signs of life", _WITHOUT[role])


def _silent(silent: Sequence[HeartbeatRecord], clock: int) -> Iterator[Finding]:
    for beat in silent:
        yield warn(
            "processes",
            f"{_NAMES[beat.role]} {beat.pid} on {beat.host} has been silent for "
            f"{span(max(0, clock - beat.at) // 1000)}",
            "it hangs, its machine is down, or it can't reach the server; look at that machine, and end "
            "the process if it still runs. A removed process is forgotten within a day",
        )


def _mail_keys(alive: Sequence[HeartbeatRecord]) -> Iterator[Finding]:
    owners: dict[str, HeartbeatRecord] = {}
    for beat in alive:
        if beat.mail_key:
            owners.setdefault(beat.mail_key, beat)
    if len(owners) > 1:
        who = ", ".join(f"{_NAMES[beat.role]} on {beat.host}" for beat in owners.values())
        yield bad(
            "mail",
            f"processes have different mail keys: {who}",
            "replies to some mails are refused; use the same file on all machines, see MATCHPOST_MAIL_KEY",
        )


def check_secrets(facts: Facts) -> Iterator[Finding]:
    """Report secrets of this machine that are not the server's."""
    for sentence in facts.server.other_secrets if facts.server else ():
        what, _, remedy = sentence.partition("; ")
        yield bad("secrets", what, f"processes on this machine refuse to start; {remedy}")


def _seeds(alive: Sequence[HeartbeatRecord]) -> Iterator[Finding]:
    for beat in alive:
        if beat.lost_shards:
            yield bad(
                "seeds",
                f"{_NAMES[beat.role]} {beat.pid} on {beat.host} lacks the seeds of "
                f"{count(len(beat.lost_shards), 'shard', 'shards')} ({', '.join(map(str, beat.lost_shards))}): "
                "matches that need a draw wait, unless another worker has them",
                "use the same folder on all machines with workers, see MATCHPOST_SEEDS, or restore it",
            )


def check_outgoing_mail(facts: Facts) -> Iterator[Finding]:
    """Report whether e-mails are sent."""
    server = facts.server
    if server is None:
        return
    waiting = count(server.outbox.waiting, "e-mail waits", "e-mails wait")
    if server.outbox.down:
        yield bad(
            "mail",
            f"the relay does not accept mail, and {waiting}: {server.outbox.down}",
            "check that it runs and MATCHPOST_RELAY is right; no e-mail is lost meanwhile",
        )
    elif server.outbox.late > _LATE_MS:
        yield warn(
            "mail",
            f"{waiting} to be sent, the first for {span(server.outbox.late // 1000)}",
            "check that a mailer runs where MATCHPOST_RELAY is set, and look at its log",
        )
    elif facts.settings.relay is not None:
        yield ok("mail", waiting)
