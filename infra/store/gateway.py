"""The gateway: submit a command and wait for its outcome.

The functions are the half without input and output. Both drivers use them: `CommandGateway` for
threads, and `infra.store.async_gateway.AsyncCommandGateway` for event loops. The scheduler and the
benchmarks submit by them too.
"""

import logging
import time
from collections.abc import Callable, Sequence
from secrets import token_urlsafe
from typing import Final, Protocol, Self

import redis

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import CommandEnvelope
from infra.durability_notes import DurabilityNotes
from infra.failpoints import failpoint
from infra.log_context import LoggedWith
from infra.metrics import OUTCOMES_PENDING, count_submissions, outcome_wait
from infra.redis.keys import Lane
from infra.sentences import SAY
from infra.server_state import DISK_FULL
from infra.store.leases import LaneLeases
from infra.store.outcome_pubsub import OutcomeListener
from infra.store.outcomes import ANY_DIGEST, CommandOutcome, parse
from infra.store.port import (
    ARCHIVED_TEXT,
    MOST_REFUSALS,
    AlreadyDecided,
    NotAccepted,
    Store,
    Submission,
    SubmitResult,
)

logger = logging.getLogger(__name__)

WAIT_SECONDS: Final = 10.0
"""How long a gateway waits for an outcome by default."""

LOOK_SECONDS: Final = 1.0
"""How often a waiting gateway reads the stored outcome, because an announcement may be lost."""

REPEAT_SECONDS: Final = 0.2
"""Until commands are submitted again whose connection broke; meanwhile the map of a cluster is read."""

_BATCH: Final = 200
"""Commands that are submitted in one round trip."""

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
    """A gateway whose caller may block: `CommandGateway` or `ThreadGateway`."""

    def send(self, sent: CommandEnvelope, ply: int, seconds: float) -> CommandOutcome:
        """Submit a command and return its outcome; raises `Refusal` and `OutcomePending`."""
        ...

    def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands without waiting for their outcomes."""
        ...


def new_channel() -> str:
    """Return the name of a channel on which one gateway alone hears outcomes."""
    return f"door:{token_urlsafe(9)}"  # short, because each command in an inbox names it


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


class CommandGateway:
    """Submits commands and waits for their outcomes. Not for several threads at once.

    With `durability` it refuses commands while the server can't keep what it accepts. `confirm` returns
    whether outcomes that are found stored are durable.
    """

    def __init__(
        self,
        store: Store,
        lanes: LaneLeases,
        client: redis.Redis,
        durability: DurabilityNotes | None = None,
        *,
        confirm: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store = store
        self._confirm = confirm
        self._durability = durability
        self._durability_read = -LOOK_SECONDS
        """When the note of durability was last read, by the monotonic clock."""
        self._lanes = lanes
        self._channel = new_channel()
        # subscribed before anything is submitted, so no announcement is missed
        self._listener = OutcomeListener(client, self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the subscription."""
        self._listener.close()

    def send(
        self, sent: CommandEnvelope, ply: int, seconds: float = WAIT_SECONDS
    ) -> CommandOutcome:
        """Submit a command and return its outcome, an acceptance or a refusal.

        `ply` is that of the match as the sender saw it. Raises `Refusal` when the store did not accept the
        command (`id-reused`, `too-many-refusals`, `busy`, `unavailable`), and `OutcomePending` when there is no
        outcome after `seconds`: it may come later, and the same command sent again gets it.
        """
        with LoggedWith(board=sent.match, command_id=sent.id, account=sent.actor):
            return self._send(sent, ply, seconds)

    def _send(self, sent: CommandEnvelope, ply: int, seconds: float) -> CommandOutcome:
        logger.debug("a command is submitted")
        submission = submission_of(sent, ply, self._channel)
        if is_too_long(sent, ply):
            stored = self._store.outcome(sent.match, sent.id)
            return self._confirmed(outcome_before_limit(stored, submission.digest))
        self._check_durability()
        failpoint("submit.ready")
        with outcome_wait():
            return self._submit_and_wait(sent, submission, seconds)

    def _submit_and_wait(
        self, sent: CommandEnvelope, submission: Submission, seconds: float
    ) -> CommandOutcome:
        (answer,) = self._submit([submission])
        if (known := outcome_of(answer, submission.digest)) is not None:
            return self._confirmed(known)
        failpoint("submit.queued")
        self._request_drain(self._store.layout().lane_of(sent.match))
        failpoint("submit.woken")
        outcome = self._await(sent, time.monotonic() + seconds)
        failpoint("submit.heard")
        return check_digest(outcome, submission.digest)

    def submit_all(self, sents: Sequence[CommandEnvelope]) -> None:
        """Submit commands without waiting for their outcomes. Repeating it is harmless.

        It does not return which of them were accepted: the inbox of a shard may be full.
        """
        for start in range(0, len(sents), _BATCH):
            some = sents[start : start + _BATCH]
            self._submit([submission_of(sent, 0, self._channel) for sent in some])
            shape = self._store.layout()
            for lane in {shape.lane_of(one.match) for one in some}:
                self._request_drain(lane)

    def _submit(self, submissions: Sequence[Submission]) -> Sequence[SubmitResult]:
        """Submit commands; once more where the connection broke, which is harmless, because they have ids."""
        try:
            answers = self._store.submit(submissions)
        except redis.ConnectionError:
            time.sleep(REPEAT_SECONDS)
            answers = self._store.submit(submissions)
        count_submissions(answers)
        return answers

    def _request_drain(self, lane: Lane) -> None:
        """Request a drain; the scheduler's sweep repeats a request that failed."""
        try:
            self._lanes.request(lane)
        except redis.RedisError as error:
            logger.info("a drain of lane %s could not be asked for: %s", lane, error)

    def _check_durability(self) -> None:
        """Read the note, unless it was good a moment ago; `unavailable` if it has a fault."""
        if self._durability is None or time.monotonic() - self._durability_read < LOOK_SECONDS:
            return
        note = self._durability.read()
        check_fault(note.fault if note else "")
        self._durability_read = time.monotonic()

    def _await(self, sent: CommandEnvelope, end: float) -> CommandOutcome:
        while (left := end - time.monotonic()) > 0:
            for command, stored in self._listener.poll(min(left, LOOK_SECONDS)):
                if command == sent.id:
                    return parse(stored)
            stored_now = self._store.outcome(sent.match, sent.id)
            if stored_now is not None:
                return self._confirmed(parse(stored_now))
        OUTCOMES_PENDING.inc()
        raise OutcomePending(PENDING_TEXT)

    def _confirmed(self, outcome: CommandOutcome) -> CommandOutcome:
        """Return an outcome that was found stored, once it is durable; else raise `OutcomePending`."""
        if not self._confirm():
            raise OutcomePending(PENDING_TEXT)
        return outcome
