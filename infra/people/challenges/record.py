"""The stored form of a challenge, and its changes. No I/O.

The command that starts the match of a full challenge.
"""

import hmac
import re
from base64 import b32encode
from collections.abc import Callable
from enum import StrEnum
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.clocks.time_control import UNRATED
from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.match.start import read_start_options, start_command, with_commitments
from domain.match.state import robot_level
from domain.records import AccountId, CommandId, command_id
from domain.rules import Seat, rules_by_id
from infra.people.texts import without_invisible
from infra.sentences import SAY
from infra.store.draw_texts import DrawTexts
from infra.store.port import Store

NOTE_LIMIT: Final = 200
"""Characters of a note."""

OPEN_MS: Final = 30 * 24 * 3_600_000
"""How long a challenge is open."""

DRAFT_MS: Final = 3_600_000
"""How long a draft lasts before it is noted under its account, because nobody could erase it."""

ENDED_MS: Final = 40 * 24 * 3_600_000
"""How long a challenge that was taken or withdrawn is kept, for repeated commands."""

MOST_CHALLENGES: Final = 20
"""Most waiting challenges that an account has opened, and most that it has joined."""

_ID_LENGTH: Final = 10

_LINK_LENGTH: Final = 20
"""Length of the id of a challenge that is not listed, which nobody can guess."""

_ID: Final = re.compile(rf"[a-z2-7]{{{_ID_LENGTH}}}|[a-z2-7]{{{_LINK_LENGTH}}}")

_START: Final = "challenge"
"""In place of a front end's name in the ids of commands that start matches."""

_NOT_ALLOWED: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class ChallengeState(StrEnum):
    """State of a challenge."""

    DRAFT = "draft"
    """It is being opened, and nobody sees it."""
    OPEN = "open"
    """It has free seats."""
    TAKEN = "taken"
    """It is full, and its match is to be started."""
    STARTED = "started"
    """Its match has a board."""
    WITHDRAWN = "withdrawn"
    """Its account has withdrawn it."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The terms of a match. The front end validates `words` and writes them in one form."""

    rules: str
    """The pinned rules, such as `pow2/1`."""
    options: tuple[str, ...] = ()
    """The game's options, as recorded."""
    words: tuple[str, ...] = ()
    """The server's options, such as `--days=3`."""
    seats: int = 2
    seat: Seat | None = None
    """The challenger's seat; None for a random one, drawn when the last seat is taken."""
    note: str = ""
    """A line to possible takers; personal."""
    listed: bool = True
    """Whether it is in the lists of open challenges; if not, its id is a secret of those who have it."""
    club: str = ""
    """Id of the club whose members alone see and take it; empty for none."""

    @property
    def game(self) -> str:
        """The game's key."""
        return self.rules.partition("/")[0]


class Challenge(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A challenge.

    Stored as a map: a new field needs a default, and a default never changes.
    """

    id: str
    command: CommandId
    """The command that opened it."""
    account: AccountId
    """The challenger."""
    proposal: Proposal
    created: int
    """Milliseconds since 1970 by Redis's clock."""
    takers: tuple[AccountId, ...] = ()
    """In the order in which they joined."""
    state: ChallengeState = ChallengeState.DRAFT
    drawn: Seat | None = None
    """The challenger's seat, if it was drawn."""
    board: int | None = None
    """Of its match, once that has started."""
    commitments: tuple[tuple[AccountId, bytes], ...] = ()
    """Commitments for the draw, of players who keep their text themselves."""

    @property
    def expires(self) -> int:
        """When it expires, in ms since 1970."""
        return self.created + OPEN_MS

    @property
    def free_seats(self) -> int:
        """The number of free seats."""
        return self.proposal.seats - len(self.players)

    @property
    def has_note(self) -> bool:
        """Return whether its note is still kept."""
        return self.state in (ChallengeState.DRAFT, ChallengeState.OPEN)

    @property
    def players(self) -> tuple[AccountId, ...]:
        """Return the players in the order in which they joined."""
        return (self.account, *self.takers)

    @property
    def seat_order(self) -> tuple[AccountId, ...]:
        """Return the players in the order of seats; empty while there are free ones."""
        own = self.proposal.seat if self.drawn is None else self.drawn
        if self.free_seats or own is None:
            return ()
        return (*self.takers[:own], self.account, *self.takers[own:])

    @property
    def words(self) -> tuple[str, ...]:
        """Return the server's options of its match, which is unrated if a robot plays in it."""
        words = self.proposal.words
        if UNRATED in words or not any(map(robot_level, self.players)):
            return words
        return (*words, UNRATED)

    @property
    def start_id(self) -> CommandId:
        """Return the id of the command that starts its match; every process gets the same."""
        return command_id(_START, self.account, self.id)

    def is_expired(self, now: int) -> bool:
        """Return whether it was open and has expired."""
        return self.state is ChallengeState.OPEN and now >= self.expires

    def ttl_ms(self, now: int) -> int:
        """Return for how many ms its record is kept."""
        if self.state is ChallengeState.DRAFT:
            return DRAFT_MS
        return self.expires - now if self.state is ChallengeState.OPEN else ENDED_MS


pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder(Challenge).decode


def make_id(command: CommandId, attempt: int, secret: bytes = b"") -> str:
    """Return the id of the challenge that a command opens, the first choice or another.

    With a secret it is one of a challenge that is not listed.
    """
    named = b"challenge\0%b%d" % (command, attempt)
    digest = hmac.digest(secret, named, "sha256") if secret else sha256(named).digest()
    length = _LINK_LENGTH if secret else _ID_LENGTH
    return b32encode(digest).decode().lower()[:length]


def read_id(text: str) -> str:
    """Return an id as it is stored; `unknown-challenge` for a text that can't be one."""
    id_ = text.lower()
    if not text.isascii() or not _ID.fullmatch(id_):
        raise Refusal(
            Code.UNKNOWN_CHALLENGE,
            SAY("challenge-form", text=text[:24], length=_ID_LENGTH, link=_LINK_LENGTH),
        )
    return id_


def read_proposal(proposal: Proposal) -> Proposal:
    """Return a valid proposal; `bad-players`, and for its note `too-long`, `bad-request`."""
    seats, seat = proposal.seats, proposal.seat
    if seats < 2:  # noqa: PLR2004 - one to open it and one to take it
        raise Refusal(Code.BAD_PLAYERS, f"a challenge has 2 seats or more, not {seats}")
    if seat is not None and seat not in range(seats):
        raise Refusal(
            Code.BAD_PLAYERS, f"there is no seat {seat}; the seats are 0 to {seats - 1}, or chance"
        )
    return replace(proposal, note=_read_note(proposal.note))


def _read_note(note: str) -> str:
    note = without_invisible(note).strip()
    if len(note) > NOTE_LIMIT:
        raise Refusal(Code.TOO_LONG, SAY("note-long", length=len(note), most=NOTE_LIMIT))
    if unfit := _NOT_ALLOWED.search(note):
        raise Refusal(
            Code.BAD_REQUEST,
            SAY("note-form", place=unfit.start() + 1, character=f"U+{ord(unfit[0]):04X}"),
        )
    return note


# changes of a challenge


def check_takeable(challenge: Challenge, account: AccountId) -> None:
    """Refuse an account that can't take a seat, as `unknown-challenge` or `own-challenge`."""
    if challenge.state is ChallengeState.WITHDRAWN:
        raise Refusal(Code.UNKNOWN_CHALLENGE, SAY("withdrawn", challenge=challenge.id))
    if account == challenge.account:
        raise Refusal(
            Code.OWN_CHALLENGE,
            SAY("own-challenge", challenge=challenge.id),
        )
    if challenge.state is not ChallengeState.OPEN:
        raise Refusal(
            Code.UNKNOWN_CHALLENGE,
            SAY("taken", challenge=challenge.id),
        )


def join(
    challenge: Challenge, account: AccountId, draw: Callable[[int], int], commitment: bytes = b""
) -> Challenge:
    """Return an open challenge with one more taker; `draw(n)` returns a number from 0 to n-1."""
    given = ((account, commitment),) if commitment else ()
    joined = replace(
        challenge,
        takers=(*challenge.takers, account),
        commitments=(*challenge.commitments, *given),
    )
    if joined.free_seats:
        return joined
    drawn = draw(joined.proposal.seats) if joined.proposal.seat is None else None
    return replace(_without_note(joined), state=ChallengeState.TAKEN, drawn=drawn)


def withdraw(challenge: Challenge, account: AccountId) -> Challenge:
    """Return a challenge without the account, or withdrawn if it is the account's own.

    `not-a-player` for an account without a seat, `already-started` if it is full.
    """
    if account not in challenge.players:
        raise Refusal(
            Code.NOT_A_PLAYER,
            SAY("no-part", challenge=challenge.id),
        )
    if challenge.state in (ChallengeState.TAKEN, ChallengeState.STARTED):
        raise Refusal(
            Code.ALREADY_STARTED,
            SAY("full", challenge=challenge.id),
        )
    if challenge.state is ChallengeState.WITHDRAWN:
        return challenge
    if account == challenge.account:
        return replace(_without_note(challenge), state=ChallengeState.WITHDRAWN)
    return _without(challenge, account)


def start(challenge: Challenge, board: int) -> Challenge:
    """Return a full challenge with the board of its match; `ValueError` if it is another."""
    if challenge.state not in (
        ChallengeState.TAKEN,
        ChallengeState.STARTED,
    ) or challenge.board not in (None, board):
        raise ValueError(
            f"challenge {challenge.id} is {challenge.state} with board {challenge.board}, "
            f"and can't have board {board}"
        )
    return replace(challenge, state=ChallengeState.STARTED, board=board)


def forget(challenge: Challenge, account: AccountId) -> Challenge | None:
    """Return a challenge without a deleted account; None to delete the challenge.

    Full challenges stay: the match names account ids, and a deleted account's id has no name.
    """
    if not challenge.has_note:
        return challenge
    return None if account == challenge.account else _without(challenge, account)


def is_over(challenge: Challenge, account: AccountId) -> bool:
    """Return whether the challenge may be removed from the account's lists.

    A draft stays because the account may be opening it, an open one because it may be joining.
    """
    return challenge.state in (ChallengeState.STARTED, ChallengeState.WITHDRAWN) or (
        challenge.state is ChallengeState.TAKEN and account not in challenge.players
    )


def check_same(
    challenge: Challenge, account: AccountId, proposal: Proposal, commitment: bytes = b""
) -> None:
    """Refuse, as `id-reused`, a command that has opened another challenge before."""
    known = proposal if challenge.has_note else replace(proposal, note="")
    before = dict(challenge.commitments).get(challenge.account, b"")
    if (challenge.account, challenge.proposal, before) != (account, known, commitment):
        raise Refusal(Code.ID_REUSED, SAY("key-reused"))


def _without(challenge: Challenge, account: AccountId) -> Challenge:
    return replace(
        challenge,
        takers=tuple(one for one in challenge.takers if one != account),
        commitments=tuple(pair for pair in challenge.commitments if pair[0] != account),
    )


def _without_note(challenge: Challenge) -> Challenge:
    return replace(challenge, proposal=replace(challenge.proposal, note=""))


def challenge_start(challenge: Challenge, store: Store, words: DrawTexts) -> CommandEnvelope:
    """Return the command that starts a full challenge's match: the same from every process.

    Refused as `start_command` refuses it.
    """
    proposal, command = challenge.proposal, challenge.start_id
    chosen = read_start_options(challenge.words, proposal.seats)
    rules = rules_by_id(proposal.rules)
    start = start_command(rules, proposal.options, chosen, challenge.seat_order, command)
    board = store.allocate(command)
    # the last taker is the actor, because then all others get a notice
    sent = CommandEnvelope(board, command, challenge.takers[-1], start)
    if not start.gather:
        return sent
    own = dict(challenge.commitments)
    commitments = words.commitments(board, challenge.seat_order, own)
    return with_commitments(sent, commitments, store.events(board))
