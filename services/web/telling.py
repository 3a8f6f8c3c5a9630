"""What happened in somebody's matches, in words."""

from collections.abc import Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
from infra.projections.lists import Row
from infra.projections.notices import Kind, Notice
from services.api.hand import Hand
from services.web.boards import names_of

_WORDS: Final = {
    Kind.CHALLENGED: "{others} called you to a match; accept or decline it",
    Kind.REVEAL: "the match with {others} waits until you reveal your text for the draw",
    Kind.STARTED: "a match with {others} has begun",
    Kind.YOUR_TURN: "your turn against {others}",
    Kind.OFFER: "{others} proposed something",
    Kind.ANSWERED: "{others} answered what was proposed",
    Kind.REPLIED: "a move that you had laid ready was played against {others}",
    Kind.RESIGNED: "one of {others} has left, and the others play on",
    Kind.FLAGGED: "a player's time was over in the match with {others}",
    Kind.RESUMED: "the pause has ended in the match with {others}",
    Kind.DECLINED: "{others} declined to play",
    Kind.OVER: "the match with {others} has ended",
    Kind.REMINDER: "your time runs out against {others}",
    Kind.CHAT: "something was said in the match with {others}",
    Kind.MESSAGE: "somebody has written to you",
}


class Told(msgspec.Struct, frozen=True):
    """Something that happened."""

    board: int
    at: int
    text: str


def told(hand: Hand, notices: Sequence[Notice], account: AccountId, most: int) -> list[Told]:
    """Say what notices, the newest first, are about: the newest each of so many matches at most."""
    newest: dict[int, Notice] = {}
    for one in notices:
        if len(newest) < most:
            newest.setdefault(one.board, one)
    return each_told(hand, list(newest.values()), account)


def each_told(hand: Hand, notices: Sequence[Notice], account: AccountId) -> list[Told]:
    """Say what each of these is about."""
    rows = hand.parts.lists.rows([one.board for one in notices])
    accounts = list(dict.fromkeys(seat for row in rows if row for seat in row.seats))
    names = dict(zip(accounts, names_of(hand.parts.accounts.name_of(accounts)), strict=True))
    return [
        Told(one.board, one.at, _text(one, row, names, account))
        for one, row in zip(notices, rows, strict=True)
    ]


def _text(notice: Notice, row: Row | None, names: dict[AccountId, str], account: AccountId) -> str:
    others = [names[seat] for seat in row.seats if seat != account] if row else []
    said = _WORDS[notice.kind].format(others=" and ".join(others) or "yourself")
    return said[:1].upper() + said[1:]
