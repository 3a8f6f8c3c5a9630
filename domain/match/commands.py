"""The commands of a match, in the form in which they wait in the inbox.

A command holds its content only. Its sender, id and match are in the envelope (`CommandEnvelope`), and its
time in the inbox. Unknown fields are refused. Once it has an outcome, a command is only kept if it was refused.
"""

from functools import cache
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from domain.clocks.match_clock import GivenTime
from domain.clocks.time_control import TimeControl
from domain.fairness import Commitment
from domain.match.events import ImportedResult, MatchSource
from domain.records import AccountId, CommandBase, CommandId, RecordDecoder
from domain.rules import Seat
from domain.tournament.commands import TournamentCommand

TEXT_LIMIT: Final = 512
"""The most characters of a command's text."""


class StartMatch(CommandBase, frozen=True, tag="start"):
    """Begin the match. The front end has read the options and looked up the players."""

    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    text: bytes = b""
    """The challenger's entropy text; see `domain.fairness`."""
    gather: bool = False
    """Wait for every other player's entropy before the draw."""
    terms: TimeControl | None = None
    """The time control; None for a match without clocks."""
    # not encoded if unset, because the digests of older commands must stay the same
    commitments: tuple[Commitment, ...] | UnsetType = UNSET
    """With `gather`: the commitments so far, by seat."""
    lapse: int | UnsetType = UNSET
    """How long the other players have to accept, ms; unset for players who have all agreed before."""
    server_deals: bool | UnsetType = UNSET
    """With `gather` and `lapse`: whether nobody is to reveal a text, because the server keeps all."""
    pairing: tuple[int, int] | UnsetType = UNSET
    """Tournament and pairing that the match is of. Only the server sends it."""
    opening: str | UnsetType = UNSET
    """The moves with which the match begins, as `OpeningGiven` has them."""


class PlayMove(CommandBase, frozen=True, tag="move"):
    """Play a move; `ply` is the number of plies that the sender has seen, if the sender says it."""

    text: str
    ply: int | None = None


class MakeOffer(CommandBase, frozen=True, tag="offer"):
    """Make an offer, which needs the other players' consent."""

    kind: str


class AnswerOffer(CommandBase, frozen=True, tag="answer"):
    """Accept or reject the open offer."""

    accept: bool
    text: bytes = b""
    """Entropy, if the match gathers it without commitments."""
    commitment: Commitment | UnsetType = UNSET
    """The player's commitment, if the match gathers commitments."""


class RevealText(CommandBase, frozen=True, tag="reveal"):
    """Reveal the text behind a commitment."""

    text: bytes


class ResignMatch(CommandBase, frozen=True, tag="resign"):
    """Resign."""


class DeclineMatch(CommandBase, frozen=True, tag="decline"):
    """Refuse to play, before one's first move."""


class ResumeMatch(CommandBase, frozen=True, tag="resume"):
    """End a pause."""


class StartVacation(CommandBase, frozen=True, tag="away"):
    """Begin a vacation: the sender's clock stops until `until`, ms."""

    until: int


class EndVacation(CommandBase, frozen=True, tag="return"):
    """End a vacation early, at `until`, ms."""

    until: int


class RemindPlayer(CommandBase, frozen=True, tag="nag"):
    """Remind the player to move at that ply. Only the scheduler sends it."""

    ply: int | None = None


class FlagPlayer(CommandBase, frozen=True, tag="flag"):
    """Flag the player to move at that ply, whose time is over. Only the scheduler sends it."""

    ply: int | None = None


class MakeClaim(CommandBase, frozen=True, tag="claim"):
    """Make a claim about a ply, as a player of the match or as an arbiter who is none."""

    ply: int
    text: bytes
    """SHA-256 of a salt and the text."""


class GiveRuling(CommandBase, frozen=True, tag="rule"):
    """Rule on a claim or on an appeal; without a claim, of the arbiter's own motion.

    Whether the sender is an arbiter is checked before it is submitted.
    """

    claim: int | None
    """The number of the event of the claim, or of the ruling without a claim that was appealed against."""
    upheld: bool
    """False dismisses the claim or the appeal, and then the fields below are left out."""
    text: bytes
    """SHA-256 of a salt and the reasons."""
    back_to: int | None = None
    """The ply to which the match is set back."""
    winners: tuple[Seat, ...] | None = None
    """The result of the match."""
    annul: bool = False
    """Whether the match counts for nothing."""
    time: tuple[tuple[Seat, int], ...] = ()
    """Seats and the ms that they get."""


class MakeAppeal(CommandBase, frozen=True, tag="appeal"):
    """Object to a ruling, once."""

    claim: int
    """The number of the event of the claim, or of the ruling if it has no claim."""
    text: bytes
    """SHA-256 of a salt and the text."""


class ImportMatch(CommandBase, frozen=True, tag="import"):
    """Propose to go on here with a match from elsewhere. Only the server sends it.

    The front end has checked the document. The fields are those of the event `Imported`.
    """

    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    terms: TimeControl | None
    setup: str | None
    moves: str
    turns: bytes
    acted: int
    out: tuple[tuple[Seat, int], ...]
    next: Seat | None
    result: ImportedResult | None
    source: MatchSource
    given: tuple[GivenTime, ...]


class SubstitutePlayer(CommandBase, frozen=True, tag="substitute"):
    """Let a substitute take over a seat of a tournament's match. Only the server sends it.

    The seat keeps its position and its bank. If it is to move, its turn begins again with a whole period, and what the
    leaver used of it counts for nobody. The leaver's vacation, open offer and conditional moves lapse.
    """

    seat: Seat
    account: AccountId
    """The substitute's."""


Command = (
    StartMatch
    | PlayMove
    | MakeOffer
    | AnswerOffer
    | RevealText
    | ResignMatch
    | DeclineMatch
    | ResumeMatch
    | StartVacation
    | EndVacation
    | RemindPlayer
    | FlagPlayer
    | MakeClaim
    | GiveRuling
    | MakeAppeal
    | ImportMatch
    | SubstitutePlayer
    | TournamentCommand
)
"""All commands that an inbox takes: those of matches, and those of tournaments."""


class CommandEnvelope(msgspec.Struct, frozen=True, array_like=True):
    """A command with its match, id and sender: an inbox entry without its time."""

    match: int
    id: CommandId
    actor: AccountId
    command: Command


class _PackedCommand(msgspec.Struct, frozen=True, array_like=True):
    """The envelope of a command that is not decoded."""

    match: int
    id: CommandId
    actor: AccountId
    command: msgspec.Raw


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = RecordDecoder(CommandEnvelope)
_PACKED: Final = RecordDecoder(_PackedCommand)


def tag_of(command: Command) -> str:
    """Return the kind of a command as its bytes have it, such as `move`."""
    return _tag(type(command))


@cache
def _tag(kind: type[CommandBase]) -> str:
    return str(kind.__struct_config__.tag)


def encode_command(sent: CommandEnvelope) -> bytes:
    """Return the bytes for the inbox."""
    return _ENCODER.encode(sent)


def decode_command(data: bytes) -> CommandEnvelope:
    """Read an inbox entry; raises `msgspec.DecodeError` or `ValidationError` if it is none."""
    return _DECODER.decode(data)


def without_envelope(data: bytes) -> bytes:
    """Return the bytes of the command in an inbox entry, which are those to keep if it is refused."""
    return bytes(_PACKED.decode(data).command)


def with_envelope(match: int, id_: CommandId, actor: AccountId, command: bytes) -> bytes:
    """Return the inbox entry that a command without envelope was in, byte by byte."""
    return _ENCODER.encode(_PackedCommand(match, id_, actor, msgspec.Raw(command)))


def command_digest(data: bytes) -> bytes:
    """Return 8 bytes by which an encoded command is compared with an earlier one of the same id."""
    return sha256(data).digest()[:8]
