"""Open challenges as lists and their own pages show them."""

from collections.abc import Mapping, Sequence

import msgspec

from domain.match.events import AccountId
from domain.match.start_command import read_start_options
from domain.rules import rules_by_id
from infra.people.challenges import Challenge
from infra.projections.ratings import Rating
from services.app.challenges import gathers
from services.app.names import names_of
from services.http.context import ApiContext
from services.http.web.session import Visitor
from services.words.agreements import (
    first_mover,
    side_words,
    variant_words,
)
from services.words.time_controls import limits


class OpenChallengeRow(msgspec.Struct, frozen=True):
    """An open challenge."""

    id: str
    game: str
    title: str
    variants: tuple[str, ...]
    """The options, in words."""
    time: str
    """The time control, in words."""
    rated: bool
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
    """The visitor's side in a match for two, if the challenger has chosen; else empty."""
    first: str
    """The side that moves first; empty if chance has a part in that."""
    gathers: bool
    """Whether the player who takes it commits to a text for the draw."""
    listed: bool
    """Whether it is in the lists; if not, its players have its link."""
    rating: Rating | None = None
    """The challenger's rating in this game; None for a player without rated matches."""


def offers(
    context: ApiContext, found: Sequence[Challenge], visitor: Visitor
) -> list[OpenChallengeRow]:
    """Return challenges as rows of a list for a visitor, with the challengers' ratings."""
    players = (player for one in found for player in one.players)
    names = names_of(context.app, players, visitor.wording)
    rows = named_offers(found, names, visitor)
    return [
        msgspec.structs.replace(row, rating=_rating(context, row.game, one.account))
        for row, one in zip(rows, found, strict=True)
    ]


def _rating(context: ApiContext, game: str, account: AccountId) -> Rating | None:
    rating = context.app.ratings.player(game, account)
    return rating if rating.matches else None


def named_offers(
    found: Sequence[Challenge], names: Mapping[AccountId, str], visitor: Visitor
) -> list[OpenChallengeRow]:
    """Return challenges as rows of a list, by the names of all their players."""
    return [_offer(one, [names[player] for player in one.players], visitor) for one in found]


def _offer(one: Challenge, names: Sequence[str], visitor: Visitor) -> OpenChallengeRow:
    proposal, rules = one.proposal, rules_by_id(one.proposal.rules)
    terms = read_start_options(one.words, proposal.seats).terms
    sides = side_words(rules, visitor.wording)
    own = visitor.account == one.account
    side = [side for seat, side in enumerate(sides) if (seat == proposal.seat) == own]
    alone = proposal.seats == 2 and proposal.seat is not None  # noqa: PLR2004
    first = first_mover(rules, proposal.options, proposal.seats)
    return OpenChallengeRow(
        id=one.id,
        game=rules.key,
        title=rules.title,
        variants=tuple(variant_words(rules, proposal.options, visitor.wording)),
        time=limits(terms, visitor.wording),
        rated=terms is not None and terms.rated,
        note=proposal.note,
        players=tuple(names),
        seats=proposal.seats,
        missing=one.free_seats,
        mine=visitor.account in one.players,
        own=own,
        seat=side[0] if alone else "",
        first="" if first is None else sides[first],
        gathers=gathers(proposal),
        listed=proposal.listed,
    )
