"""What happened in somebody's matches, in words."""

from collections.abc import Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
from infra.projections.lists import Row
from infra.projections.notices import Kind, Notice
from services.api.context import ApiContext
from services.app.names import names_of

_WORDS: Final = {
    Kind.CHALLENGED: "{others} called you to a match; accept or decline it",
    Kind.REVEAL: "The match with {others} waits until you reveal your text for the draw",
    Kind.STARTED: "A match with {others} has begun",
    Kind.YOUR_TURN: "Your turn against {others}",
    Kind.OFFER: "{others} proposed something",
    Kind.ANSWERED: "{others} answered what was proposed",
    Kind.REPLIED: "A move that you had laid ready was played against {others}",
    Kind.RESIGNED: "One of {others} has left, and the others play on",
    Kind.FLAGGED: "A player's time was over in the match with {others}",
    Kind.RESUMED: "The pause has ended in the match with {others}",
    Kind.DECLINED: "{others} declined to play",
    Kind.OVER: "The match with {others} has ended",
    Kind.REMINDER: "Your time runs out against {others}",
    Kind.CHAT: "Something was said in the match with {others}",
    Kind.MESSAGE: "Somebody has written to you",
}


class Told(msgspec.Struct, frozen=True):
    """Something that happened."""

    board: int
    at: int
    text: str


def told(
    context: ApiContext, notices: Sequence[Notice], account: AccountId, most: int
) -> list[Told]:
    """Say what notices, the newest first, are about: the newest each of so many matches at most."""
    newest: dict[int, Notice] = {}
    for one in notices:
        if len(newest) < most:
            newest.setdefault(one.board, one)
    return each_told(context, list(newest.values()), account)


def each_told(context: ApiContext, notices: Sequence[Notice], account: AccountId) -> list[Told]:
    """Say what each of these is about."""
    rows = context.app.lists.rows([one.board for one in notices])
    names = names_of(context.app, (seat for row in rows if row for seat in row.seats))
    return [
        Told(one.board, one.at, _text(one, row, names, account))
        for one, row in zip(notices, rows, strict=True)
    ]


def _text(notice: Notice, row: Row | None, names: dict[AccountId, str], account: AccountId) -> str:
    others = [names[seat] for seat in row.seats if seat != account] if row else []
    return _WORDS[notice.kind].format(others=" and ".join(others) or "yourself")
