"""Events of matches, told in short."""

from msgspec.structs import asdict

from domain.fairness import Commitment
from domain.match.events import (
    Accepted,
    AccountId,
    Challenged,
    Claimed,
    DealProposed,
    Ended,
    MatchProposed,
    MatchStarted,
    Moved,
    OfferMade,
    Resigned,
    ResultChanged,
    Ruled,
    SetBack,
    Undone,
)
from tests.helpers.given import ALICE, BOB, CAROL

ARBITER = b"arbiter1"
TEXT = bytes(32)


def started(
    *seats: AccountId, turn: int | None = 0, rules: str = "pow2/1", options: tuple[str, ...] = ()
) -> MatchStarted:
    """A match begins, of alice and bob if nobody is named."""
    players = seats or (ALICE, BOB)
    return MatchStarted(rules=rules, options=options, seats=players, setup=None, next=turn)


def three(turn: int | None = 0) -> MatchStarted:
    """A match of three begins."""
    return started(ALICE, BOB, CAROL, turn=turn, rules="halves/1")


def challenged(*seats: AccountId) -> Challenged:
    """A match is called for."""
    return Challenged(rules="halves/1", options=(), seats=seats or (ALICE, BOB), text=b"text")


def proposed(*seats: AccountId, invited: tuple[int, ...] = (1,), turn: int = 0) -> MatchProposed:
    """A match by name begins that not all have accepted."""
    begun = started(*seats, turn=turn, rules="halves/1" if len(seats) > 2 else "pow2/1")
    return MatchProposed(**asdict(begun), invited=invited, lapse=1_000_000)


def accepted(seat: int, turn: int | None = 0) -> Accepted:
    """An invited player accepts."""
    return Accepted(seat=seat, next=turn)


def deal_proposed() -> DealProposed:
    """A match by name is called for, and alice has committed."""
    called = asdict(challenged())
    given = Commitment(bytes(32)), Commitment()
    return DealProposed(**called, commitments=given, lapse=1_000_000, server_deals=True)


def moved(ply: int, seat: int, turn: int | None, *, queued: bool = False) -> Moved:
    """A move."""
    return Moved(ply=ply, seat=seat, move="a1", next=turn, queued=queued)


def resigned(seat: int, turn: int | None = None) -> Resigned:
    """A seat gives up."""
    return Resigned(seat=seat, next=turn)


def undone(ply: int, turn: int) -> Undone:
    """Moves are taken back."""
    return Undone(ply=ply, next=turn)


def offered(seat: int, kind: str = "draw") -> OfferMade:
    """An offer."""
    return OfferMade(seat=seat, kind=kind)


def ended(*winners: int, reason: str = "goal") -> Ended:
    """The end."""
    return Ended(winners=winners, reason=reason)


def claimed(seat: int | None, ply: int = 0) -> Claimed:
    """A claim."""
    return Claimed(seat=seat, ply=ply, text=TEXT)


def ruled(claim: int | None = None, *, upheld: bool = True) -> Ruled:
    """A ruling."""
    return Ruled(claim=claim, upheld=upheld, text=TEXT)


def set_back(ply: int, turn: int, *back: int) -> SetBack:
    """A match is set back, and some seats are back."""
    return SetBack(ply=ply, next=turn, back=back)


def result_changed(*winners: int) -> ResultChanged:
    """Another result; annulled without winners."""
    return ResultChanged(winners=winners, reason="ruling" if winners else "annulled")
