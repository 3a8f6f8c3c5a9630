"""The processes of a server by what they do, from their signs of life, and the mail that goes out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from infra.heartbeats import Beat, Role
from services.doctor.facts import Facts
from services.doctor.findings import Finding, bad, count, note, ok, span, warn

_LATE_MS: Final = 120_000
"""How long a letter may have been due: twice as long as the mailer may be at something else."""

_NAMES: Final[Mapping[Role, str]] = {
    Role.WORKER: "command worker",
    Role.PROJECTIONS: "projection worker",
    Role.SCHEDULER: "scheduler",
    Role.WEB: "web process",
    Role.MAIL: "mail intake",
    Role.MAILER: "mailer",
}

_WITHOUT: Final[Mapping[Role, str]] = {
    Role.PROJECTIONS: "lists, notices and ratings stand still; `matchpost serve` starts one",
    Role.SCHEDULER: "no reminder comes, no flag falls and lost jobs stay lost; it is part of "
    "`matchpost serve`, so that has to run on one machine at least",
    Role.WEB: "nobody is answered over HTTP; `matchpost serve` or `matchpost web` starts one",
    Role.MAIL: "no mail is taken; `matchpost serve` or `matchpost mail` starts one",
    Role.MAILER: "no mail is sent; `matchpost serve` or `matchpost mailer` starts one",
}
"""What it means that there is none, and what to do. Command workers are counted by the queue."""


def check_processes(facts: Facts) -> Iterator[Finding]:
    """Return which processes are missing, silent, or at odds with others."""
    server = facts.server
    if server is None or server.shape is None:
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
        yield ok("processes", f"what runs gives signs of life: {', '.join(names)}")
    yield from found
    if len({beat.version for beat in alive}) > 1:
        listed = ", ".join(sorted({beat.version for beat in alive}))
        yield note("processes", f"they are of different versions: {listed}")


def _missing(facts: Facts, alive: Sequence[Beat]) -> Iterator[Finding]:
    there = {beat.role for beat in alive}
    for role in _expected(facts):
        if role not in there:
            found = bad if role is Role.SCHEDULER else warn
            yield found("processes", f"no {_NAMES[role]} gives a sign of life", _WITHOUT[role])


def _expected(facts: Facts) -> list[Role]:
    """Return the roles that somebody has to have: by the settings, or because somebody had it of late."""
    settings = facts.settings
    wanted = {
        Role.PROJECTIONS: True,
        Role.SCHEDULER: True,
        Role.WEB: settings.http != "off",
        Role.MAIL: settings.smtp != "off" or settings.lmtp is not None,
        Role.MAILER: settings.relay is not None,
    }
    had = {beat.role for beat in facts.server.beats} if facts.server else set()
    return [role for role in _WITHOUT if wanted[role] or role in had]


def _silent(silent: Sequence[Beat], clock: int) -> Iterator[Finding]:
    for beat in silent:
        yield warn(
            "processes",
            f"{_NAMES[beat.role]} {beat.pid} on {beat.host} has been silent for "
            f"{span(max(0, clock - beat.at) // 1000)}",
            "it hangs, its machine is gone, or it can't reach the server; look there, and end it if it "
            "is still there. One that was taken away for good is forgotten within a day",
        )


def _mail_keys(alive: Sequence[Beat]) -> Iterator[Finding]:
    owners: dict[str, Beat] = {}
    for beat in alive:
        if beat.mail_key:
            owners.setdefault(beat.mail_key, beat)
    if len(owners) > 1:
        who = ", ".join(f"{_NAMES[beat.role]} on {beat.host}" for beat in owners.values())
        yield bad(
            "mail",
            f"processes have different mail keys: {who}",
            "answers to some mails are refused; give all machines the same file, see MATCHPOST_MAIL_KEY",
        )


def _seeds(alive: Sequence[Beat]) -> Iterator[Finding]:
    for beat in alive:
        if beat.lost:
            yield bad(
                "seeds",
                f"{_NAMES[beat.role]} {beat.pid} on {beat.host} lacks the seeds of "
                f"{count(len(beat.lost), 'shard', 'shards')} ({', '.join(map(str, beat.lost))}): "
                "matches that draw are refused there",
                "give all machines with workers the same folder, see MATCHPOST_SEEDS, or restore it",
            )


def check_outgoing_mail(facts: Facts) -> Iterator[Finding]:
    """Return whether mail goes out."""
    server = facts.server
    if server is None:
        return
    waiting = count(server.outbox.waiting, "letter waits", "letters wait")
    if server.outbox.down:
        yield bad(
            "mail",
            f"the relay does not take mail, and {waiting}: {server.outbox.down}",
            "look whether it runs and MATCHPOST_RELAY is right; nothing is lost meanwhile",
        )
    elif server.outbox.late > _LATE_MS:
        yield warn(
            "mail",
            f"{waiting} to be sent, the first for {span(server.outbox.late // 1000)}",
            "look whether a mailer runs and where MATCHPOST_RELAY is set, and at its log",
        )
    elif facts.settings.relay is not None:
        yield ok("mail", waiting)
