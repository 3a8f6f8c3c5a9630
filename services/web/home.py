"""The first page: what this is, or what waits for whoever has logged in."""

from typing import Final
from uuid import uuid4

import msgspec
from litestar import Response, get

from domain.match.events import AccountId
from domain.match.state import Reason, deadline
from domain.rules import current, pinned
from infra.projections.lists import Row, State
from infra.projections.notices import KEPT
from services.api.hand import Hand
from services.language.parsing import games
from services.language.telling import how, listed, without_winner
from services.web.boards import drawn, names_of
from services.web.choices import TIMES, USUAL_TIME, draws_usually
from services.web.offers import Offer, offers
from services.web.pages import page
from services.web.params import TheHand, TheVisitor
from services.web.tables import snapshot_of
from services.web.telling import Told, told

SHOWN: Final = 24
_NEWS: Final = 8
"""Matches whose latest news is shown."""
_QUICK: Final = ("pow2", "goliath", "powerdrain", "halves")
"""Games that are offered with one click."""
_LIVE: Final = ("pow2", "goliath", "halves", "powerdrain", "line", "torere")
"""Games of which one that goes on is shown to who comes by, the first that is being played."""


class Item(msgspec.Struct, frozen=True):
    """A match in a list."""

    board: int
    title: str
    players: tuple[str, ...]
    options: tuple[str, ...]
    others: tuple[str, ...]
    """All but the one whose list it is."""
    ply: int
    since: int
    """When the turn began, ms."""
    turn: str
    """Who is to move."""
    mine: bool
    waiting: bool
    """Whether it waits for consent."""
    result: str
    """How it ended; empty while it goes on."""
    deadline: int | None = None


@get("/", sync_to_thread=True)
def show_home(hand: TheHand, visitor: TheVisitor) -> Response[str]:
    """Show what is to be done, or what there is."""
    if visitor.account is None:
        return page("welcome.html", visitor, live=_live(hand), games=[current(k) for k in games()])
    account = visitor.account
    lists = hand.parts.lists
    to_move = items(hand, lists.of(account, State.NEXT, None, 0, SHOWN), account)
    mine = {item.board for item in to_move}
    active = items(hand, lists.of(account, State.ACTIVE, None, 0, SHOWN), account)
    return page(
        "home.html",
        visitor,
        now=hand.parts.store.now(),
        to_move=_with_deadlines(hand, to_move),
        others=[item for item in active if item.board not in mine],
        counts=lists.counts(account),
        news=_news(hand, account),
        offers=_offers(hand, account),
        quick=[current(key) for key in _QUICK],
        chance={key for key in _QUICK if draws_usually(current(key))},
        quick_time=TIMES[USUAL_TIME][0],
        key=uuid4().hex,
    )


def _offers(hand: Hand, account: AccountId) -> list[Offer]:
    """Give what the visitor waits for, then what can be taken."""
    challenges = hand.parts.challenges
    own = challenges.of(account)
    known = {one.id for one in own}
    others = [one for one in challenges.listed(None, 0, SHOWN) if one.id not in known]
    return offers(hand, [*own, *others], account)


def items(hand: Hand, rows: list[Row], account: AccountId | None = None) -> list[Item]:
    """Give matches as a list shows them, to whoever plays in them or to anybody."""
    accounts = list(dict.fromkeys(seat for row in rows for seat in row.seats))
    found = dict(zip(accounts, names_of(hand.parts.accounts.name_of(accounts)), strict=True))
    return [_item(row, [found[seat] for seat in row.seats], account) for row in rows]


def _item(row: Row, names: list[str], account: AccountId | None) -> Item:
    seat = row.seats.index(account) if account in row.seats else None
    return Item(
        board=row.board,
        title=pinned(row.rules).title,
        players=tuple(names),
        options=row.options,
        others=tuple(name for at, name in enumerate(names) if at != seat),
        ply=row.ply,
        since=row.since,
        turn=" and ".join(names[at] for at in row.waits),
        mine=seat in row.waits,
        waiting=not row.started,
        result=_result(row, names),
    )


def _result(row: Row, names: list[str]) -> str:
    if row.winners is None:
        return ""
    if said := without_winner(row.reason):
        return said
    if len(names) == 1:
        return "finished"
    who = listed([names[at] for at in row.winners])
    won = f"{who} {'has won' if len(row.winners) == 1 else 'share the win'}"
    # what a game's own rules call an ending is a code, and no words
    return f"{won} {how(row.reason)}" if row.reason in set(Reason) else won


def _with_deadlines(hand: Hand, found: list[Item]) -> list[Item]:
    """Add when the time of each is over, the soonest first."""
    timed = [
        msgspec.structs.replace(one, deadline=deadline(snapshot_of(hand, one.board).state))
        for one in found
    ]
    return sorted(timed, key=lambda one: (one.deadline is None, one.deadline or 0, one.since))


def _news(hand: Hand, account: AccountId) -> list[Told]:
    # all: those of one match may be many
    return told(hand, hand.parts.notices.of(account, count=KEPT), account, _NEWS)


class Live(msgspec.Struct, frozen=True):
    """A match to look at, on the first page."""

    board: int
    title: str
    players: tuple[str, ...]
    svg: str
    ply: int
    seq: int


def _live(hand: Hand) -> Live | None:
    """Give a match that goes on; None where none does."""
    for game in _LIVE:
        for row in hand.parts.lists.playing(game, 0, 1):
            state = snapshot_of(hand, row.board).state
            if not state.unplaced:
                names = names_of(hand.parts.accounts.name_of(state.seats))
                svg = drawn(state, state.ply, names)
                title = pinned(state.rules).title
                return Live(row.board, title, names, svg, state.ply, state.seq)
    return None
