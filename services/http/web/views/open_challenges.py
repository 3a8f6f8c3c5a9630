"""Open challenges as lists show them."""

from collections.abc import Mapping, Sequence

import msgspec

from domain.clocks.time_control import describe_time_control
from domain.match.events import AccountId
from domain.match.start_options import read_start_options
from domain.rules import rules_by_id
from infra.people.challenges import Challenge
from services.app.challenges import gathers
from services.app.names import names_of
from services.http.context import ApiContext


class OpenChallengeRow(msgspec.Struct, frozen=True):
    """An open challenge."""

    id: str
    game: str
    title: str
    options: tuple[str, ...]
    time: str
    """The time control, in words."""
    note: str
    players: tuple[str, ...]
    """The challenger, and the players who have joined."""
    seats: int
    """The number of players."""
    missing: int
    mine: bool
    """Whether the visitor is the challenger or has joined."""
    own: bool
    """Whether the visitor is the challenger."""
    seat: str
    """The side of the player who takes it, if the challenger of a match for two has chosen; else empty."""
    gathers: bool
    """Whether the player who takes it commits to a text for the draw."""


def offers(
    context: ApiContext, found: Sequence[Challenge], account: AccountId | None
) -> list[OpenChallengeRow]:
    """Return challenges as rows of a list for an account."""
    names = names_of(context.app, (player for one in found for player in one.players))
    return named_offers(found, names, account)


def named_offers(
    found: Sequence[Challenge], names: Mapping[AccountId, str], account: AccountId | None
) -> list[OpenChallengeRow]:
    """Return challenges as rows of a list, by the names of all their players."""
    return [_offer(one, [names[player] for player in one.players], account) for one in found]


def _offer(one: Challenge, names: Sequence[str], account: AccountId | None) -> OpenChallengeRow:
    proposal, rules = one.proposal, rules_by_id(one.proposal.rules)
    terms = read_start_options(one.words, proposal.seats).terms
    free = [side for seat, side in enumerate(rules.sides) if seat != proposal.seat]
    alone = proposal.seats == 2 and proposal.seat is not None  # noqa: PLR2004
    return OpenChallengeRow(
        id=one.id,
        game=rules.key,
        title=rules.title,
        options=proposal.options,
        time=describe_time_control(terms) if terms else "",
        note=proposal.note,
        players=tuple(names),
        seats=proposal.seats,
        missing=one.free_seats,
        mine=account in one.players,
        own=account == one.account,
        seat=free[0] if alone else "",
        gathers=gathers(proposal),
    )
