"""Pages of matches: the visitor's own, a player's, a game's.

The matches of a player or of a game, by state, game and opponent, a page at a time.

The public page of matches that go on now, the newest move first.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlencode

import msgspec
from litestar import Response
from litestar.params import QueryParameter

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.rules import game_keys, latest_rules
from infra.languages.wording import Wording
from infra.projections.match_lists import MatchFilter, MatchListRow, finished_row
from infra.projections.ratings import pool_of
from infra.redis.reads import read_one
from services.app.context import App
from services.app.games import read_game, read_multiplayer_game
from services.app.match_notes import boards_with_note
from services.app.queries import find_player, listed_matches
from services.app.sentences import SAY
from services.app.waiting import OwnMatches, WaitingMatches, own_matches, waiting_matches
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, first_row, rated_rows, with_own
from services.http.web.lists.watching import shown_part
from services.http.web.params import (
    Asked,
    GameKey,
    GameParameter,
    ListState,
    NoteWords,
    OwnPage,
    PageNumber,
    Userid,
    WithPlayer,
)
from services.http.web.render import render
from services.http.web.session import Visitor

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


pages = Pages()

_SUGGESTED: Final = 8
"""Names that are suggested in place of one that nobody has."""


class Tab(msgspec.Struct, frozen=True):
    """One of the lists of a page."""

    label: str
    found: FoundMatches


class ListPage(msgspec.Struct, frozen=True):
    """A page of lists of matches."""

    title: str
    path: str
    tabs: Mapping[str, Tab]
    """By state."""
    owner: AccountId | None = None
    """The player whose matches they are."""
    waiting: WaitingMatches = WaitingMatches()
    """Those that wait for the visitor."""
    unread: Mapping[int, int] = {}


class ListFilter(msgspec.Struct, frozen=True):
    """The choices of the form above a list."""

    state: str
    game: str
    opponent: str
    page: int
    note: str = ""
    """Words of the visitor's notes."""
    unknown: tuple[str, ...] | None = None
    """Names that are like that of the opponent, whom nobody knows; None for a known one."""

    def query(self, state: str = "") -> dict[str, str]:
        """Return it as the query of an address, with the list of another state."""
        chosen = {"state": state or self.state, "game": self.game, "with": self.opponent}
        chosen["note"] = self.note
        return {name: value for name, value in chosen.items() if value}


@pages.get("/matches")
def show_own(
    own_page: OwnPage,
    listed: ListState = WAITING,
    game: GameParameter = "",
    opponent: WithPlayer = "",
    note: NoteWords = "",
    page: PageNumber = 1,
) -> Response[str]:
    """Show the visitor's matches: their own move, others to move, or finished."""
    account = own_page.account
    app, _ = own_page.app, own_page.visitor.wording.gettext
    chosen, search = _chosen(
        own_page.context, account, ListFilter(listed, game, opponent, page, note.strip())
    )
    if chosen.note:
        boards = boards_with_note(app, account, chosen.note)
        search = msgspec.structs.replace(search, boards=boards)
    own = own_matches(app, account)
    waiting = waiting_matches(app, own)
    tabs = {
        WAITING: Tab(_("Your move"), waiting_rows(search, waiting)),
        OTHERS: Tab(_("Waiting for others"), other_rows(app, search, own)),
        FINISHED: Tab(_("Finished"), finished_rows(app, search)),
    }
    unread = app.unread.counts(account).boards
    shown = ListPage(_("Your matches"), "/matches", tabs, account, waiting, unread)
    return _render(own_page.context, own_page.visitor, shown, chosen)


@pages.get("/players/{userid:str}/matches")
def show_players(
    userid: Userid,
    asked: Asked,
    listed: ListState = FINISHED,
    game: GameParameter = "",
    opponent: WithPlayer = "",
    page: PageNumber = 1,
) -> Response[str]:
    """Show all matches of a player."""
    visitor = asked.visitor
    account, profile = find_player(asked.app, userid)
    chosen, search = _chosen(asked.context, account, ListFilter(listed, game, opponent, page))
    tabs = _running_and_finished(
        visitor.wording, going_rows(asked.app, search), finished_rows(asked.app, search)
    )
    title = visitor.wording.gettext("Matches of %(name)s", name=profile.name)
    shown = ListPage(title, f"/players/{profile.name}/matches", tabs, account)
    return _render(asked.context, visitor, shown, chosen)


@pages.get("/games/{game:str}/matches")
def show_games_matches(
    game: GameKey, asked: Asked, listed: ListState = GOING, page: PageNumber = 1
) -> Response[str]:
    """Show all matches of a game."""
    visitor = asked.visitor
    rules, app = read_game(game), asked.app
    tabs = _running_and_finished(
        visitor.wording, rows_of_game(app, rules.key), finished_rows_of_game(app, rules.key)
    )
    title = visitor.wording.gettext("Matches of %(name)s", name=rules.title)
    shown = ListPage(title, f"/games/{rules.key}/matches", tabs)
    return _render(asked.context, visitor, shown, ListFilter(listed, "", "", page))


def _running_and_finished(
    words: Wording, going: FoundMatches, over: FoundMatches
) -> dict[str, Tab]:
    return {
        GOING: Tab(words.gettext("In progress"), going),
        FINISHED: Tab(words.gettext("Finished"), over),
    }


def _chosen(
    context: ApiContext, account: AccountId, wanted: ListFilter
) -> tuple[ListFilter, MatchSearch]:
    """Return what was chosen, with the account of the opponent; an unknown one gets similar names."""
    key = read_game(wanted.game).key if wanted.game else ""
    name = wanted.opponent.strip().lower()
    chosen = msgspec.structs.replace(wanted, game=key, opponent=name)
    if not name:
        return chosen, MatchSearch(account, key)
    try:
        opponent, _ = find_player(context.app, name)
    except Refusal:
        similar = tuple(context.app.accounts.names_starting(name, _SUGGESTED))
        return msgspec.structs.replace(chosen, unknown=similar), MatchSearch(account, key)
    return chosen, MatchSearch(account, key, opponent)


def _render(
    context: ApiContext, visitor: Visitor, shown: ListPage, chosen: ListFilter
) -> Response[str]:
    if chosen.state not in shown.tabs:
        raise Refusal(
            Code.NOT_FOUND,
            SAY("no-such-list", word=chosen.state[:24], known=", ".join(shown.tabs)),
        )
    tab, start = shown.tabs[chosen.state], first_row(chosen.page)
    rows = [] if chosen.unknown is not None else tab.found.some(start, PAGE_SIZE)
    found = rated_rows(context, rows, visitor, shown.owner)
    part = ListPart.of(
        tab.label,
        start=start,
        shown=len(found),
        total=tab.found.total,
        path=shown.path,
        query=chosen.query(),
    )
    tabs = [
        (key, one.label, one.found.total, f"{shown.path}?{urlencode(chosen.query(key))}")
        for key, one in shown.tabs.items()
    ]
    return render(
        "matches.html",
        visitor,
        title=shown.title,
        path=shown.path,
        chosen=chosen,
        noted=shown.path == "/matches",
        searchable=shown.owner is not None,
        games=[latest_rules(key) for key in game_keys()] if shown.owner else [],
        tabs=tabs,
        found=with_own(found, shown.waiting, shown.unread),
        part=part,
        now=context.app.store.now(),
    )


RATINGS: Final = (1500, 1600, 1700, 1800)
"""The least ratings that can be chosen."""

LOOKED_AT: Final = 500
"""Matches that are put in order, the newest: those of a game are all on the game's own page."""

LeastRating = Annotated[int, QueryParameter(name="rating", ge=0, le=10_000)]


@pages.get("/playing")
def show_playing(
    asked: Asked, game: GameParameter = "", rating: LeastRating = 0, page: PageNumber = 1
) -> Response[str]:
    """Show the matches that go on, of all games or one, with a player of at least some rating."""
    visitor = asked.visitor
    app, start = asked.app, first_row(page)
    games = [key for key in game_keys() if latest_rules(key).players != (1,)]
    chosen = read_multiplayer_game(game).key if game else ""
    wanted = [chosen] if chosen else games
    rows = [row for row in _newest(app, wanted) if row.started]
    found = sorted(_rated(app, rows, rating), key=lambda row: (row.since, row.board), reverse=True)
    shown = shown_part(asked.context, found[start : start + PAGE_SIZE], len(found), visitor)
    query = {"game": chosen, "rating": str(rating or "")}
    part = ListPart.of(
        visitor.wording.gettext("Being played now"),
        start=start,
        shown=len(shown.rows),
        total=len(found),
        path="/playing",
        query={name: value for name, value in query.items() if value},
    )
    return render(
        "playing.html",
        visitor,
        games=[latest_rules(key) for key in games],
        game=chosen,
        ratings=RATINGS,
        rating=rating,
        found=shown,
        more=len(rows) >= LOOKED_AT,
        most=LOOKED_AT,
        part=part,
        now=app.store.now(),
    )


def _newest(app: App, games: Sequence[str]) -> Iterable[MatchListRow]:
    """Return the newest running matches of some games."""
    lists = [app.lists.playing(key, 0, LOOKED_AT) for key in games]
    newest = merge(*lists, key=lambda row: row.board, reverse=True)
    return islice(newest, LOOKED_AT)


def _rated(app: App, rows: Sequence[MatchListRow], least: int) -> list[MatchListRow]:
    """Return the matches that have a player with at least this rating in their game."""
    if not least:
        return list(rows)
    players = list(dict.fromkeys((_pool(row), seat) for row in rows for seat in row.seats))
    ratings = read_one(app.data, app.ratings.read_players(players))
    strong = {
        player
        for player, rating in zip(players, ratings, strict=True)
        if rating.matches and rating.display_value >= least
    }
    return [row for row in rows if any((_pool(row), seat) in strong for seat in row.seats)]


def _pool(row: MatchListRow) -> str:
    return pool_of(row.game, row.seats)
