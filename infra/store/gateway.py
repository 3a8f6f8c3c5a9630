"""The half of the gateway without input and output: submissions, and what their answers mean.

`infra.store.async_gateway` does the rest. The scheduler, the robots and the benchmarks submit by these functions too.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import CommandEnvelope
from infra.redis.server import DISK_FULL
from infra.sentences import SAY
from infra.store.outcomes import ANY_DIGEST, CommandOutcome, parse
from infra.store.port import (
    ARCHIVED_TEXT,
    MOST_REFUSALS,
    AlreadyDecided,
    NotAccepted,
    Submission,
    SubmitResult,
)

WAIT_SECONDS: Final = 10.0
"""How long a gateway waits for an outcome by default."""

LOOK_SECONDS: Final = 1.0
"""How often a waiting gateway reads the stored outcome, because an announcement may be lost."""

REPEAT_SECONDS: Final = 0.2
"""Until commands are submitted again whose connection broke; meanwhile the map of a cluster is read."""

NOT_ACCEPTED_TEXT: Final = {
    Code.MATCH_OVER: ARCHIVED_TEXT,
    Code.ID_REUSED: "this id was used for another command before; give each command its own",
    Code.TOO_MANY_REFUSALS: f"{MOST_REFUSALS} commands were refused at this ply; further ones are "
    "refused until the match has moved on",
    Code.DAMAGED: "the match can't be read from the archive; the server's log says why",
    Code.UNAVAILABLE: "the server can't take this command now, because moves of this part of its matches have "
    "to be restored first, or because the archive can't be read; try again in a minute",
    Code.BUSY: "the server has more commands waiting than it takes; try again in a minute",
}
"""The sentence for each code with which the store does not accept a command."""

PENDING_TEXT: Final = "the command was taken and waits for its turn"

MOST_PLIES: Final = 2_000
"""Plies after which no move is taken: a puzzle could be played without end, and its pages grow."""


class OutcomePending(Exception):  # noqa: N818 - it is an answer
    """The command was accepted, and its outcome is not known yet; repeating it is safe."""


class Gateway(Protocol):
    """A gateway whose caller may block."""

    def send(
        self, sent: CommandEnvelope, ply: int, seconds: float = WAIT_SECONDS
    ) -> CommandOutcome:
        """Submit a command and return its outcome, an acceptance or a refusal.

        `ply` is that of the match as the sender saw it. Raises `Refusal` when the store did not accept the
        command (`id-reused`, `too-many-refusals`, `busy`, `unavailable`), and `OutcomePending` when there is no
        outcome after `seconds`: it may come later, and the same command sent again gets it.
        """
        ...

    def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands without waiting for their outcomes. Repeating it is harmless.

        It does not return which of them were accepted: the inbox of a shard may be full.
        """
        ...


def submission_of(sent: CommandEnvelope, ply: int, reply_to: str) -> Submission:
    """Return the submission of a command.

    `ply` is that of the match as the sender saw it; the outcome is published on `reply_to`.
    """
    payload = commands.encode_command(sent)
    digest = commands.command_digest(payload)
    return Submission(sent.match, sent.id, digest, payload, sent.actor, ply, reply_to)


def outcome_of(answer: SubmitResult, digest: bytes) -> CommandOutcome | None:
    """Return the outcome that a submitted command has already; None when it is queued.

    Raises `Refusal` when the store did not accept the command.
    """
    if isinstance(answer, NotAccepted):
        raise refusal_of(answer)
    return (
        check_digest(parse(answer.stored), digest) if isinstance(answer, AlreadyDecided) else None
    )


def refusal_of(answer: NotAccepted) -> Refusal:
    """Return the refusal of a command that the store did not accept."""
    code = Code(answer.code)
    return Refusal(code, NOT_ACCEPTED_TEXT[code])


def check_digest(outcome: CommandOutcome, digest: bytes) -> CommandOutcome:
    """Return the outcome; `id-reused` when it is of another command under the same id."""
    if outcome.digest not in (digest, ANY_DIGEST):
        raise Refusal(Code.ID_REUSED, NOT_ACCEPTED_TEXT[Code.ID_REUSED])
    return outcome


def check_fault(fault: str) -> None:
    """Raise `unavailable` if the server has a fault of durability."""
    if fault:
        sentence = SAY("disk-full") if fault == DISK_FULL else SAY("not-kept")
        raise Refusal(Code.UNAVAILABLE, sentence)


def is_too_long(sent: CommandEnvelope, ply: int) -> bool:
    """Return whether a command is a move beyond `MOST_PLIES`."""
    return ply >= MOST_PLIES and isinstance(sent.command, commands.PlayMove)


def outcome_before_limit(stored: bytes | None, digest: bytes) -> CommandOutcome:
    """Return the outcome of a move that was accepted before; `too-long` for another."""
    if stored is None:
        raise Refusal(
            Code.TOO_LONG,
            SAY("plies", most=MOST_PLIES),
        )
    return check_digest(parse(stored), digest)
