"""The matches of a player or of a game, by state, game and opponent, a page at a time."""

from collections.abc import Callable, Collection, Sequence
from heapq import merge
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from domain.match.events import AccountId
from infra.projections.match_lists import MatchFilter, MatchListRow, finished_row
from infra.redis.reads import read_one
from services.app.context import App
from services.app.games import game_keys
from services.app.listed_matches import listed_matches
from services.app.waiting import OwnMatches, WaitingMatches

WAITING: Final = "waiting"
OTHERS: Final = "others"
GOING: Final = "going"
FINISHED: Final = "finished"

SomeRows: TypeAlias = Callable[[int, int], Sequence[MatchListRow]]
"""Returns rows for a start and a count."""


class FoundMatches(msgspec.Struct, frozen=True):
    """Matches, of which some are read."""

    total: int
    some: SomeRows


class MatchSearch(msgspec.Struct, frozen=True):
    """A search among the matches of a player."""

    account: AccountId
    game: str = ""
    """Empty for all games."""
    opponent: AccountId | None = None
    """None for all opponents."""
    boards: frozenset[int] | None = None
    """The matches whose notes have the words that are looked for; None for all matches."""

    @property
    def narrow(self) -> bool:
        """Return whether it leaves any matches out."""
        return bool(self.game) or self.opponent is not None or self.boards is not None

    def matches(self, row: MatchListRow) -> bool:
        """Return whether a match is looked for."""
        wanted = self.boards is None or row.board in self.boards
        return wanted and self.game in ("", row.game) and self.opponent in (None, *row.seats)


def waiting_rows(search: MatchSearch, waiting: WaitingMatches) -> FoundMatches:
    """Return the matches that wait for the player, the most urgent first."""
    return _listed([row for row in waiting.rows if search.matches(row)])


def other_rows(app: App, search: MatchSearch, own: OwnMatches) -> FoundMatches:
    """Return the running matches that do not wait for the player, in the order of the player's lists."""
    boards = own.others
    if not search.narrow:
        return FoundMatches(
            len(boards),
            lambda start, count: _rows(app, boards[start : start + count], search.account),
        )
    return _listed(list(filter(search.matches, _rows(app, boards, search.account))))


def going_rows(app: App, search: MatchSearch) -> FoundMatches:
    """Return all running matches of the player that all have accepted, the newest first."""
    if not search.narrow:
        return FoundMatches(
            app.lists.counts(search.account).active,
            lambda start, count: app.lists.of(
                search.account, MatchFilter.ACTIVE, None, start, count
            ),
        )
    boards = read_one(app.data, app.lists.read_boards(search.account))
    every = sorted([*boards.waiting, *boards.others], reverse=True)
    begun = [row for row in _rows(app, every, search.account) if not row.invited]
    return _listed(list(filter(search.matches, begun)))


def _rows(app: App, boards: Sequence[int], account: AccountId) -> list[MatchListRow]:
    bucket = read_one(app.data, app.lists.read_boards(account)).bucket
    return list(read_one(app.data, app.lists.read_rows(bucket, boards)).values())


def _listed(rows: Sequence[MatchListRow]) -> FoundMatches:
    return FoundMatches(len(rows), lambda start, count: rows[start : start + count])


def finished_rows(app: App, search: MatchSearch) -> FoundMatches:
    """Return the player's matches that have ended, the last first.

    Those against one opponent are in a list for each game, so of each as many are read as come before.
    """
    account, opponent = search.account, search.opponent
    if not search.narrow:
        return FoundMatches(
            app.lists.counts(account).inactive,
            lambda start, count: app.lists.of(account, MatchFilter.INACTIVE, None, start, count),
        )
    if search.boards is not None:
        return _noted_rows(app, search, search.boards)
    counts = {
        key: app.history.count(key, account, opponent)
        for key in ([search.game] if search.game else game_keys())
    }
    games = [key for key, count in counts.items() if count]

    def some(start: int, count: int) -> list[MatchListRow]:
        if len(games) == 1:
            rows = app.history.of(games[0], account, opponent, start, count)
            return list(map(finished_row, rows))
        lists = [app.history.of(key, account, opponent, 0, start + count) for key in games]
        newest = merge(*lists, key=lambda row: (row.at, row.board), reverse=True)
        return list(map(finished_row, islice(newest, start, start + count)))

    return FoundMatches(sum(counts.values()), some)


def _noted_rows(app: App, search: MatchSearch, boards: Collection[int]) -> FoundMatches:
    """Return the player's finished matches among those with a note, the last first."""
    rows = listed_matches(app, sorted(boards, reverse=True)).values()
    own = [row for row in rows if row.over and search.account in row.seats and search.matches(row)]
    return _listed(sorted(own, key=lambda row: (row.ended, row.board), reverse=True))


def boards_with_note(app: App, account: AccountId, words: str) -> frozenset[int]:
    """Return the matches with a note of the account that has all these words, in any order and case."""
    wanted = words.lower().split()
    notes = app.notes.all(account)
    return frozenset(
        board for board, text in notes.items() if all(one in text.lower() for one in wanted)
    )


def rows_of_game(app: App, game: str) -> FoundMatches:
    """Return the running matches of a game, the newest first."""
    return FoundMatches(
        app.lists.count_playing(game), lambda start, count: app.lists.playing(game, start, count)
    )


def finished_rows_of_game(app: App, game: str) -> FoundMatches:
    """Return the finished matches of a game, the last first."""

    def some(start: int, count: int) -> list[MatchListRow]:
        return list(map(finished_row, app.history.of(game, start=start, count=count)))

    return FoundMatches(app.history.count(game), some)
