"""The events of a match, which are named in the past tense; see `docs/formats.md`.

Every form here is final. New fields come at the end with a default. Any other change raises `SCHEMA` and needs
a pure upcaster. Golden bytes in the tests cover every form.
"""

import msgspec

from domain.clocks.match_clock import GivenTime
from domain.clocks.time_control import TimeControl
from domain.fairness import Commitment, SetupDraw
from domain.records import AccountId, EventBody
from domain.rules import Seat
from domain.tournament.events import LotsDrawn, TournamentEvent


class MatchStarted(EventBody, frozen=True, tag="match-started"):
    """A match began. This is everything that a replay needs to begin."""

    rules: str
    """The rules and their version, such as `pow2/1`."""
    options: tuple[str, ...]
    """As recorded: sorted, hyphenated, defaults left out."""
    seats: tuple[AccountId, ...]
    setup: str | None
    """The drawn setup as canonical JSON text; None for games without chance."""
    next: Seat | None
    """The seat to move; None when the match was over at its start."""
    draw: SetupDraw | None = None
    """The draw of the setup; None if chance decided nothing."""
    terms: TimeControl | None = None
    """The time control; None for a match without clocks."""


class MatchProposed(MatchStarted, frozen=True, kw_only=True, tag="match-proposed"):
    """A match by name began that not all players have accepted: until then no clock runs."""

    invited: tuple[Seat, ...]
    """The seats that have yet to accept, or to move."""
    lapse: int
    """How long they have, ms."""


class MatchPaired(MatchStarted, frozen=True, kw_only=True, tag="match-paired"):
    """A match of a tournament began, whose players have consented to be paired by entering."""

    tournament: int
    """Its number."""
    pairing: int
    """The number of the pairing in the tournament."""


class OpeningGiven(EventBody, frozen=True, tag="opening-given"):
    """A match began with moves that none of its players has played; it follows the start, whose `next` moves after them."""

    moves: str
    """The canonical texts of the moves, separated by blanks."""


class Accepted(EventBody, frozen=True, tag="accepted"):
    """An invited seat accepted a match by name, without a move."""

    seat: Seat
    next: Seat | None
    """The seat to move; None while others have yet to accept."""


class Challenged(EventBody, frozen=True, tag="challenged"):
    """A match was proposed. Before its draw it waits for every player's entropy."""

    rules: str
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    text: bytes
    """The challenger's entropy text."""
    terms: TimeControl | None = None


class Moved(EventBody, frozen=True, tag="moved"):
    """A move was accepted: one ply."""

    ply: int
    """1 for the first move of the match."""
    seat: Seat
    move: str
    """Canonical text."""
    next: Seat | None
    """The seat to move now, after seats that the rules pass; None when the match is over."""
    queued: bool = False
    """Whether it is a conditional move; its command is then that of the move it answers."""


class OfferMade(EventBody, frozen=True, tag="offered"):
    """A seat made an offer, which needs the other players' consent."""

    seat: Seat
    kind: str


class OfferAnswered(EventBody, frozen=True, tag="answered"):
    """A seat answered the open offer."""

    seat: Seat
    kind: str
    accept: bool


class Undone(EventBody, frozen=True, tag="undone"):
    """Moves were taken back by agreement; they stay in the history."""

    ply: int
    """The number of moves that are left."""
    next: Seat | None
    """The seat to move now."""


class Resigned(EventBody, frozen=True, tag="resigned"):
    """A seat resigned."""

    seat: Seat
    next: Seat | None = None
    """The seat to move now, where others go on playing."""


class Nagged(EventBody, frozen=True, tag="nagged"):
    """The seat to move was reminded."""

    seat: Seat


class Flagged(EventBody, frozen=True, tag="flagged"):
    """A seat's time was over before it moved."""

    seat: Seat
    next: Seat | None = None
    """The seat to move now, where others go on playing."""


class Paused(EventBody, frozen=True, tag="paused"):
    """All clocks were stopped by agreement."""


class Resumed(EventBody, frozen=True, tag="resumed"):
    """A seat ended the pause."""

    seat: Seat


class Absent(EventBody, frozen=True, tag="absent"):
    """A seat began a vacation: its clock stands still from the time of this event."""

    seat: Seat
    until: int
    """The end of the vacation, ms."""


class Returned(EventBody, frozen=True, tag="returned"):
    """A seat cut its vacation short."""

    seat: Seat
    until: int
    """The time at which its clock goes on, ms; a day of vacation that has begun may still pass."""


class Declined(EventBody, frozen=True, tag="declined"):
    """A seat refused to play before its first move; the match does not count."""

    seat: Seat


class Ended(EventBody, frozen=True, tag="ended"):
    """The match is over."""

    winners: tuple[Seat, ...]
    """All tied seats in a draw; none if the match does not count."""
    reason: str
    """An ending of the game's rules, or one of `state.Reason`."""


class Called(Challenged, frozen=True, tag="called"):
    """A match was proposed whose players first commit to their texts; `text` is empty."""

    commitments: tuple[Commitment, ...] = ()
    """The commitments so far, by seat."""


class DealProposed(Called, frozen=True, kw_only=True, tag="deal-proposed"):
    """A match by name was proposed that is dealt once all players have accepted it."""

    lapse: int
    """How long those who have not committed have to accept, ms."""
    server_deals: bool
    """Whether the server keeps every text, so that it deals at once and nobody reveals anything."""


class MatchSource(msgspec.Struct, frozen=True, array_like=True):
    """Where an imported match was played before."""

    kind: str
    """`document` for a match document, whose log proves it; `record` for a bare list of moves."""
    origin: str
    """The name of the source's log, or of its server; empty if neither is known."""
    board: int
    """The board's number at the source; 0 if it is not known."""
    head: bytes
    """Leaf hash of the last event at the source; empty for a record."""
    events: int
    """The number of events at the source; 0 for a record."""
    digest: bytes
    """SHA-256 of the document or of the record."""


class ImportedResult(msgspec.Struct, frozen=True, array_like=True):
    """How an imported match had ended at its source."""

    winners: tuple[Seat, ...]
    reason: str


class Imported(Challenged, frozen=True, kw_only=True, tag="imported"):
    """A match was brought from elsewhere; it waits until every player accepts it. `text` is empty."""

    setup: str | None
    moves: str
    """The canonical texts of the moves, separated by blanks."""
    turns: bytes
    """The times of the turns, as `MatchClock.turns` has them; empty for a match without clocks."""
    acted: int
    """Bit s is set if seat s has moved."""
    out: tuple[tuple[Seat, int], ...]
    """Seats that have resigned or run out of time, each with the ply at which it did."""
    next: Seat | None
    """The seat to move once all have accepted; None if the match was over."""
    result: ImportedResult | None
    """None if the match goes on here."""
    source: MatchSource
    given: tuple[GivenTime, ...]
    """The time that rulings gave."""


class Gathered(EventBody, frozen=True, tag="gathered"):
    """A player accepted a match that waits, and gave entropy; the last one starts the match."""

    seat: Seat
    text: bytes
    """The player's entropy text; empty if the player gave none."""


class Committed(EventBody, frozen=True, tag="committed"):
    """A player accepted a match that waits, and committed to a text."""

    seat: Seat
    commitment: Commitment


class Sealed(EventBody, frozen=True, tag="sealed"):
    """All players have committed: the seed of the draw is fixed, and they reveal their texts."""

    chain: int
    k: int
    """The seed's number in the chain; the start event reveals the seed."""
    waits: tuple[Seat, ...]
    """The seats that reveal their texts themselves, because the server does not store them."""


class Revealed(EventBody, frozen=True, tag="revealed"):
    """A player's text was revealed; the last one starts the match."""

    seat: Seat
    text: bytes


class Withheld(EventBody, frozen=True, tag="withheld"):
    """A seat did not reveal its text in time, or declined after the seal."""

    seat: Seat


class Claimed(EventBody, frozen=True, tag="claimed"):
    """A claim about a ply was made; an arbiter rules on it."""

    seat: Seat | None
    """The seat of the player who made it; None if an arbiter did."""
    ply: int
    text: bytes
    """SHA-256 of a salt and the text, which are stored apart."""


class Ruled(EventBody, frozen=True, tag="ruled"):
    """An arbiter ruled; what changes in the match by it follows in events of the same command."""

    claim: int | None
    """The number of the case: of the event that began it; None for a ruling of the arbiter's own motion."""
    upheld: bool
    text: bytes
    """The reasons, as in `Claimed`."""


class Appealed(EventBody, frozen=True, tag="appealed"):
    """A player objected to a ruling; another arbiter rules again."""

    seat: Seat
    claim: int
    """The number of the case."""
    text: bytes
    """As in `Claimed`."""


class SetBack(EventBody, frozen=True, tag="set-back"):
    """A ruling set the match back to a ply: it goes on there, even if it was over."""

    ply: int
    """The number of moves that are left."""
    next: Seat | None
    """The seat to move now."""
    back: tuple[Seat, ...]
    """The seats that had left at that ply or later, and play on now."""


class ResultChanged(EventBody, frozen=True, tag="result-changed"):
    """A ruling changed the result of a match that is over, or ended a running one."""

    winners: tuple[Seat, ...]
    """All tied seats in a draw; none if the match is annulled."""
    reason: str
    """`ruling` or `annulled`."""


class TimeGiven(EventBody, frozen=True, tag="time-given"):
    """A ruling gave a seat more time."""

    seat: Seat
    ms: int


class SeatTakenOver(EventBody, frozen=True, tag="seat-taken-over"):
    """A substitute took over a seat of a tournament's match, with position and clock as they stand."""

    seat: Seat
    account: AccountId
    """The substitute's."""
    next: Seat | None
    """The seat to move, as before. If it is this one, its turn begins again."""


Event = (
    Challenged
    | Gathered
    | MatchStarted
    | Moved
    | OfferMade
    | OfferAnswered
    | Undone
    | Resigned
    | Nagged
    | Flagged
    | Paused
    | Resumed
    | Absent
    | Returned
    | Declined
    | Ended
    | Called
    | Committed
    | Sealed
    | Revealed
    | Withheld
    | Claimed
    | Ruled
    | Appealed
    | SetBack
    | ResultChanged
    | TimeGiven
    | Imported
    | MatchProposed
    | Accepted
    | DealProposed
    | MatchPaired
    | SeatTakenOver
    | OpeningGiven
    | TournamentEvent
)
"""All bodies that the envelope of an event may have: those of matches, and those of tournaments."""


def draw_of(body: Event) -> SetupDraw | None:
    """Return the draw of a match's setup or of a tournament's lots that an event reveals."""
    return body.draw if isinstance(body, MatchStarted | LotsDrawn) else None
