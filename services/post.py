"""The one way in: every door hands its commands to a `Post` and gets their outcomes back."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

import redis

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import Sent
from infra.announce import Listener
from infra.faults import point
from infra.keys import lane_of, shard_of
from infra.lanes import Lanes
from infra.outcomes import Outcome, parse
from infra.store.port import REFUSALS, Known, Store, Submission, Turned

WAIT_SECONDS: Final = 10.0
"""How long a door waits for an outcome unless told otherwise."""

_LOOK_SECONDS: Final = 1.0
"""How often a waiting door looks at the stored outcome: an announcement may be lost."""

_TOGETHER: Final = 200
"""Commands handed in with one round trip."""

TURNED: Final = {
    Code.ID_REUSED: "this id was used for another command before; give each command its own",
    Code.TOO_MANY_REFUSALS: f"{REFUSALS} commands were refused at this ply; no more are taken "
    "until the match has moved on",
    Code.BUSY: "the server has more commands waiting than it takes; try again in a minute",
}
"""What is told of a command that was not taken."""


MOST_PLIES: Final = 2_000
"""Plies after which no move is taken: a puzzle could be played without end, and its pages grow."""


class Pending(Exception):  # noqa: N818 - it is an answer
    """The command was taken, and its outcome is not known yet; repeating it is safe."""


class Post:
    """Hands commands in and waits for their outcomes. Not for several threads at once."""

    def __init__(self, store: Store, lanes: Lanes, client: redis.Redis) -> None:
        self._store = store
        self._lanes = lanes
        self._door = f"door:{uuid4().hex}"
        # subscribed before anything is submitted: nothing is announced past us
        self._listener = Listener(client, self._door)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the subscription."""
        self._listener.close()

    def send(self, sent: Sent, ply: int, seconds: float = WAIT_SECONDS) -> Outcome:
        """Hand a command in and give its outcome, accepted or refused.

        `ply` is where the door saw the match. Raises `Refusal` when the command was not taken
        (`id-reused`, `too-many-refusals`, `busy`) and `Pending` when there is no outcome after
        `seconds`: it may come later, and the same command sent again gets it.
        """
        submission = self._submission(sent, ply)
        if is_too_long(sent, ply):
            stored = self._store.outcome(sent.match, sent.id)
            return own(parse(known_or_refused(stored)), submission.digest)
        point("submit.ready")
        (answer,) = self._store.submit([submission])
        if isinstance(answer, Turned):
            raise Refusal(Code(answer.code), TURNED[Code(answer.code)])
        if isinstance(answer, Known):
            return parse(answer.stored)
        point("submit.queued")
        shape = self._store.shape()
        self._lanes.want(lane_of(shard_of(sent.match, shape.shards), shape.lanes))
        point("submit.woken")
        outcome = self._await(sent, time.monotonic() + seconds)
        point("submit.heard")
        return own(outcome, submission.digest)

    def hand_in(self, sents: Sequence[Sent]) -> None:
        """Hand commands in whose outcomes nobody waits for. Repeating it is harmless.

        Which of them were not taken is not told: the inbox of a shard may be full.
        """
        for start in range(0, len(sents), _TOGETHER):
            some = sents[start : start + _TOGETHER]
            self._store.submit([self._submission(sent, 0) for sent in some])
            shape = self._store.shape()
            for lane in {lane_of(shard_of(s.match, shape.shards), shape.lanes) for s in some}:
                self._lanes.want(lane)

    def _submission(self, sent: Sent, ply: int) -> Submission:
        payload = commands.encode(sent)
        digest = commands.digest(payload)
        return Submission(sent.match, sent.id, digest, payload, sent.actor, ply, self._door)

    def _await(self, sent: Sent, end: float) -> Outcome:
        while (left := end - time.monotonic()) > 0:
            for command, stored in self._listener.heard(min(left, _LOOK_SECONDS)):
                if command == sent.id:
                    return parse(stored)
            stored_now = self._store.outcome(sent.match, sent.id)
            if stored_now is not None:
                return parse(stored_now)
        raise Pending("the command was taken and waits for its turn")


def is_too_long(sent: Sent, ply: int) -> bool:
    """Whether a command is a move in a match that has as many as a match may have."""
    return ply >= MOST_PLIES and isinstance(sent.command, commands.Move)


def known_or_refused(stored: bytes | None) -> bytes:
    """Return the outcome of a move that was taken before; `too-long` for another."""
    if stored is None:
        raise Refusal(
            Code.TOO_LONG,
            f"a match has at most {MOST_PLIES} plies by commands; end it with `resign`, with an "
            "offer, or as the game has it",
        )
    return stored


def own(outcome: Outcome, digest: bytes) -> Outcome:
    """Give the outcome, if it is of this command and not of another under the same id."""
    if outcome.digest != digest:
        raise Refusal(Code.ID_REUSED, TURNED[Code.ID_REUSED])
    return outcome
