"""Pages of matches: the visitor's own, a player's, a game's."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec
from litestar import Response

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import latest_rules
from infra.languages.wording import Wording
from services.app.games import game_keys, read_game
from services.app.queries import find_player
from services.app.sentences import SAY
from services.app.waiting import WaitingMatches, own_matches, waiting_matches
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.lists.found_matches import (
    FINISHED,
    GOING,
    OTHERS,
    WAITING,
    FoundMatches,
    MatchSearch,
    boards_with_note,
    finished_rows,
    finished_rows_of_game,
    going_rows,
    other_rows,
    rows_of_game,
    waiting_rows,
)
from services.http.web.lists.match_rows import rated_rows, with_own
from services.http.web.lists.pagination import PAGE_SIZE, ListPart, first_row
from services.http.web.params import (
    AccountDependency,
    ContextDependency,
    GameKey,
    GameParameter,
    ListState,
    NoteWords,
    PageNumber,
    Userid,
    VisitorDependency,
    WithPlayer,
)
from services.http.web.render import render
from services.http.web.session import Visitor

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
def show_own(  # noqa: PLR0913, PLR0917 - one for each field of the form
    context: ContextDependency,
    visitor: VisitorDependency,
    account: AccountDependency,
    listed: ListState = WAITING,
    game: GameParameter = "",
    opponent: WithPlayer = "",
    note: NoteWords = "",
    page: PageNumber = 1,
) -> Response[str]:
    """Show the visitor's matches: their own move, others to move, or finished."""
    app, _ = context.app, visitor.wording.gettext
    chosen, search = _chosen(
        context, account, ListFilter(listed, game, opponent, page, note.strip())
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
    return _render(context, visitor, shown, chosen)


@pages.get("/players/{userid:str}/matches")
def show_players(  # noqa: PLR0917 - the parts of its address
    userid: Userid,
    context: ContextDependency,
    visitor: VisitorDependency,
    listed: ListState = FINISHED,
    game: GameParameter = "",
    opponent: WithPlayer = "",
    page: PageNumber = 1,
) -> Response[str]:
    """Show all matches of a player."""
    account, profile = find_player(context.app, userid)
    chosen, search = _chosen(context, account, ListFilter(listed, game, opponent, page))
    tabs = _running_and_finished(
        visitor.wording, going_rows(context.app, search), finished_rows(context.app, search)
    )
    title = visitor.wording.gettext("Matches of %(name)s", name=profile.name)
    shown = ListPage(title, f"/players/{profile.name}/matches", tabs, account)
    return _render(context, visitor, shown, chosen)


@pages.get("/games/{game:str}/matches")
def show_games_matches(
    game: GameKey,
    context: ContextDependency,
    visitor: VisitorDependency,
    listed: ListState = GOING,
    page: PageNumber = 1,
) -> Response[str]:
    """Show all matches of a game."""
    rules, app = read_game(game), context.app
    tabs = _running_and_finished(
        visitor.wording, rows_of_game(app, rules.key), finished_rows_of_game(app, rules.key)
    )
    title = visitor.wording.gettext("Matches of %(name)s", name=rules.title)
    shown = ListPage(title, f"/games/{rules.key}/matches", tabs)
    return _render(context, visitor, shown, ListFilter(listed, "", "", page))


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
    found = rated_rows(context, rows, visitor.wording, shown.owner)
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
