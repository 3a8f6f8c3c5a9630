"""The home page: the matches of a visitor who has logged in, or a welcome to a guest.

The contents of an account's home page, read in few round trips and few commands.

Pages of long lists: notices, scores.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.response import Redirect

from domain.match.state import MatchState
from domain.records import AccountId
from domain.rules import MissingRules, latest_rules, rules_by_id
from domain.sentences import Translation
from infra.people.account_lists import FollowList
from infra.people.account_notices import MOST_ROWS, UnreadCounts, newest_first
from infra.people.challenges import Challenge, ChallengesOverview
from infra.projections.match_lists import MatchListRow, finished_row
from infra.projections.notices import MOST_NOTICES, newest_text
from infra.projections.tournaments import LISTS_OF_PHASES
from infra.redis.reads import Read, read_all
from infra.store.snapshots import read_snapshots
from services.app.context import App
from services.app.games import read_game
from services.app.games_off import keys_on
from services.app.matches import load_state
from services.app.names import names_by_seat, names_of, shown_names
from services.app.tournament_names import names_in_notices, visible_names
from services.app.tournaments import ListedTournament
from services.app.waiting import (
    NewsGroup,
    OwnMatches,
    WaitingMatches,
    boards_of,
    grouped,
    in_order,
    new_count,
    next_match,
    tournaments_of,
)
from services.http.context import ApiContext
from services.http.streams.page_marks import HomeTopic, home_mark, page_marks
from services.http.web.boards.board_view import draw_match, game_cards, welcome_game
from services.http.web.boards.live_try import easiest_robot, live_try
from services.http.web.challenges.match_draft import offered_games, robot_offers, showcase_games
from services.http.web.challenges.page import named_offers, offers
from services.http.web.declared import Pages
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart, first_row, named_rows, with_own
from services.http.web.lists.watching import played_part, watched_part
from services.http.web.params import AfterBoard, Asked, GameKey, OwnPage, PageNumber
from services.http.web.puzzles.page import leaderboard_page
from services.http.web.render import redirect_to, render
from services.http.web.session import AskedPage, Visitor
from services.words.agreements import offered
from services.words.news import NewsItem, NewsReader, Rows, named_news, rows_of_notices, senders_of
from services.words.tournaments import progress

MAX_CARDS: Final = 12
"""Matches with a picture of their board."""

MAX_ROWS: Final = 24
"""Matches that wait for the visitor, those with a picture included; another page has all."""

MAX_OTHERS: Final = 10
"""Other running matches; another page has all."""

_MAX_CHALLENGES: Final = 24

_MAX_TOURNAMENTS: Final = 10
"""The newest tournaments of the account, among which are those that are being played."""

_MAX_READ: Final = 24
"""Rows of news that are looked at; many no longer hold."""


class HomeView(msgspec.Struct, frozen=True):
    """The contents of a home page."""

    mark: str
    """Changes with the page; see `services.http.streams.page_marks`."""
    waiting: WaitingMatches
    others: list[MatchListRow]
    """Some of the other running matches."""
    others_total: int
    """The number of all of them."""
    unread: UnreadCounts
    followed: FollowList
    """The matches that the account watches, and the players that it follows."""
    news: list[NewsGroup]
    new_news: int
    """How many rows of news are new."""
    rows: Rows
    """The matches of the lists and of the notices, by board."""
    open: ChallengesOverview
    names: Mapping[AccountId, str]
    """Of all players of these matches and challenges."""
    tournaments: list[ListedTournament]
    """The account's newest that are being played."""
    tournaments_told: Mapping[int, str]
    """The names of those that notices and the matches of the lists are of, and that the account may see."""

    @property
    def challenges(self) -> list[Challenge]:
        """The account's own waiting challenges, then the newest of others."""
        return _shown(self.open)


def _home_reads(
    app: App, asked: AskedPage, _: int = 0, __: MatchState | None = None
) -> Sequence[Read[Any]]:
    """Return what a home page reads first; nothing for a guest."""
    if asked.account is None:
        return ()
    return (
        app.lists.read_boards(asked.account),
        app.unread.read(asked.account, asked.now),
        # all notices, because one match may have many
        app.notices.matches.read_of(asked.account, 0, MOST_NOTICES),
        app.challenges.read_ids(asked.account, _MAX_CHALLENGES),
        app.follows.read(asked.account),
        app.tournaments.read_newest(asked.account, _MAX_TOURNAMENTS),
    )


def read_home(context: ApiContext, account: AccountId, visitor: Visitor) -> HomeView:
    """Return the contents of an account's home page, in two round trips after that of the account.

    The mark comes from the first reads, so that a later change reaches the page as news.
    """
    app, now, language = context.app, visitor.now, visitor.wording
    boards, messages, matches, ids, followed, numbers = visitor.gathered or read_all(
        app.data, *_home_reads(app, AskedPage(account, now, visitor.partial))
    )
    own = OwnMatches(account, boards, followed)
    every = newest_first(matches, messages.notices)[:MOST_NOTICES]
    groups = grouped(every, kinds=False)[:_MAX_READ]
    notices = [one.newest for one in groups]
    shown = own.others[:MAX_OTHERS]
    going = {*boards.waiting, *boards.others}
    noted, told = boards_of(notices), tournaments_of(notices)
    wanted = [*boards.waiting, *shown, *noted]
    rows, over, listed = read_all(
        app.data,
        app.lists.read_rows(boards.bucket, wanted),
        app.history.read_rows({*noted} - going),
        app.challenges.read_listed(ids, now),
    )
    open_ = app.challenges.overview_of(listed)
    # a match that ended between the two reads may have no row
    waiting = [rows[board] for board in boards.waiting if board in rows]
    finished = {board: finished_row(row) for board, row in over.items()}
    known = rows_of_notices(app, notices, {**finished, **rows})
    accounts = _players(
        [*(row.seats for row in known.values()), senders_of(notices)], _shown(open_)
    )
    played = [row.tournament for row in rows.values() if row.tournament]
    known_tournaments = [*dict.fromkeys([*numbers, *told, *played])]
    snapshots, userids, rows_of_tournaments, said = read_all(
        app.data,
        read_snapshots(app.store.shard_of, [row.board for row in waiting]),
        app.accounts.read_names(accounts),
        app.tournaments.read_rows(known_tournaments),
        app.tournament_texts.read(known_tournaments),
    )
    return HomeView(
        mark=home_mark(open_, boards.mark, newest_text(matches), messages.mark),
        waiting=in_order(own, waiting, snapshots),
        others=[rows[board] for board in shown if board in rows],
        others_total=len(boards.others),
        unread=messages.counts,
        followed=followed,
        news=groups,
        new_news=new_count(matches, messages, now),
        rows=known,
        open=open_,
        names=dict(zip(accounts, shown_names(userids, language), strict=True)),
        tournaments=[
            ListedTournament(row, said[row.number].name)
            for row in rows_of_tournaments
            if row.number in numbers and LISTS_OF_PHASES.get(row.phase) == "running"
        ],
        tournaments_told=visible_names(
            app,
            account,
            {row.number: row.club for row in rows_of_tournaments if row.number in {*told, *played}},
            said,
        ),
    )


def _shown(open_: ChallengesOverview) -> list[Challenge]:
    known = {one.id for one in open_.own}
    return [*open_.own, *(one for one in open_.newest if one.id not in known)]


def _players(
    groups: Iterable[Sequence[AccountId]], challenges: Sequence[Challenge]
) -> list[AccountId]:
    """Return the players of groups, such as matches, and of challenges, each once."""
    found = [one for group in groups for one in group]
    return list(dict.fromkeys([*found, *(one for each in challenges for one in each.players)]))


pages = Pages()

_MAX_NEWS: Final = 8
_MAX_WATCHED: Final = 6
_MAX_PLAYED: Final = 4
_MAX_OFFERS: Final = 6


@pages.get("/", reads=_home_reads)
def show_home(asked: Asked) -> Response[str]:
    """Show the matches that wait for the visitor, or a welcome."""
    visitor = asked.visitor
    if visitor.account is None:
        return _show_welcome(asked.context, visitor)
    account = visitor.account
    home = read_home(asked.context, account, visitor)
    mine, unread = home.waiting, home.unread
    names, told = home.names, home.tournaments_told
    shown = named_rows(mine.rows[:MAX_ROWS], names, account, told)
    waiting = with_own(shown, mine, unread.boards)
    asking = [one for one in waiting if one.offer or one.makers]
    to_move = [one for one in waiting if not (one.offer or one.makers)]
    others = with_own(named_rows(home.others, names, account, told), mine, unread.boards)
    talked = [home.rows[board] for board in unread.boards if board in home.rows]
    matches = {one.board: one for one in named_rows(talked, names, account)}
    reader = NewsReader(account, visitor.wording, unread, visitor.now, told)
    news = named_news(home.news, home.rows, names, reader)
    return render(
        "home.html",
        msgspec.structs.replace(visitor, news=home.new_news),
        mark=home.mark,
        messages=unread.messages,
        # also in matches that are over or not shown here
        chats=[
            (board, lines, matches.get(board)) for board, lines in sorted(unread.boards.items())
        ],
        now=visitor.now,
        waiting=len(mine.rows),
        asked=[
            (one, one.offer and f"{offered(one.offer, one.offered_by, visitor.wording)}.")
            for one in asking
        ],
        cards=to_move[:MAX_CARDS],
        more=to_move[MAX_CARDS:],
        others=others,
        others_total=home.others_total,
        followed=home.followed,
        watched=watched_part(asked.context, home.followed, 0, _MAX_WATCHED, visitor),
        played=played_part(asked.context, account, home.followed, 0, _MAX_PLAYED, visitor),
        news=list(islice((one for one in news if one.current), _MAX_NEWS)),
        offers=named_offers(asked.app, home.challenges, home.names, visitor),
        offers_part=ListPart.of(
            visitor.wording.gettext("Open challenges"),
            start=0,
            shown=len(home.open.newest),
            total=home.open.total,
            path="/challenges",
        ),
        tiles=game_cards(offered_games(asked.app), visitor),
        tournaments=[
            (one.row.number, one.name, progress(one.row, visitor.wording))
            for one in home.tournaments
        ],
        cases=asked.app.cases.count() if visitor.profile and visitor.profile.arbiter else 0,
        key=uuid4().hex,
        **robot_offers(asked.app),
    )


@pages.get("/next")
def go_to_next(own_page: OwnPage, after: AfterBoard = None) -> Redirect:
    """Go to the match that waits next for the visitor, or home without one."""
    found = next_match(own_page.app, own_page.account, after, own_page.visitor.wording)
    return redirect_to(f"/m/{found.board}" if found else "/")


# the first page of a guest


class LiveMatch(msgspec.Struct, frozen=True):
    """A match in progress, which the page follows."""

    board: int
    title: str
    players: tuple[str, ...]
    svg: str
    ply: int
    seq: int


def _show_welcome(context: ApiContext, visitor: Visitor) -> Response[str]:
    """Show a guest what this is."""
    known = [latest_rules(key) for key in keys_on(context.app)]
    open_ = context.app.challenges.list_open(None, 0, _MAX_OFFERS)
    return render(
        "welcome.html",
        visitor,
        live=_live_match(context, visitor.wording),
        live_try=live_try(welcome_game(context.app), visitor.wording, easiest_robot(context.app)),
        games=game_cards([one for one in known if one.players != (1,)], visitor),
        puzzles=game_cards([one for one in known if one.players == (1,)], visitor),
        offers=[one for one in offers(context, open_, visitor) if not one.off],
        **robot_offers(context.app),
    )


def _live_match(context: ApiContext, language: Translation) -> LiveMatch | None:
    """Return a match in progress; None if there is none."""
    for rules in showcase_games():
        for row in context.app.lists.playing(rules.key, 0, 1):
            state = load_state(context.app, row.board)
            missing = isinstance(rules_by_id(state.rules), MissingRules)
            if not missing and not state.has_no_position:
                names = names_by_seat(context.app, state.seats, language)
                svg = draw_match(state, state.ply, names, language=language)
                return LiveMatch(row.board, rules.title, names, svg, state.ply, state.seq)
    return None


@pages.get("/notices")
def show_notices(own_page: OwnPage, page: PageNumber = 1) -> Response[str]:
    """Show the visitor's notices, the newest first, and mark them as read; a part of the page marks none."""
    visitor, account = own_page.visitor, own_page.account
    start = first_row(page)
    groups = grouped(own_page.app.notices.of(account, 0, MOST_ROWS))
    found = groups[start : start + PAGE_SIZE]
    part = ListPart.of(
        visitor.wording.gettext("News"),
        start=start,
        shown=len(found),
        total=len(groups),
        path="/notices",
    )
    news = news_items(own_page.context, found, visitor)
    if found and not visitor.partial:
        own_page.app.messages.mark_news_read(account, found[0].newest.at)
    # after the mark, which changes it
    topic = HomeTopic(account)
    mark = page_marks(own_page.app, [topic])[topic]
    return render("notices.html", visitor, news=news, part=part, mark=mark)


@pages.get("/games/{game:str}/scores")
def show_scores(game: GameKey, asked: Asked, page: PageNumber = 1) -> Response[str]:
    """Show all scores of a puzzle, the best first."""
    visitor = asked.visitor
    rules, start = read_game(game), first_row(page)
    best, total = leaderboard_page(asked.context, rules, visitor, start, PAGE_SIZE)
    part = ListPart.of(
        visitor.wording.gettext("Scores"),
        start=start,
        shown=len(best.rows),
        total=total,
        path=f"/games/{rules.key}/scores",
    )
    return render("scores.html", visitor, rules=rules, best=best, part=part)


def news_items(
    context: ApiContext, groups: Sequence[NewsGroup], visitor: Visitor
) -> list[NewsItem]:
    """Return each group of notices in words."""
    account, notices = visitor.require_account(), [one.newest for one in groups]
    app = context.app
    found = app.lists.rows(boards_of(notices))
    rows = rows_of_notices(app, notices, {row.board: row for row in found if row})
    seats = (seat for row in rows.values() for seat in row.seats)
    names = names_of(app, [*seats, *senders_of(notices)], visitor.wording)
    numbers = tournaments_of(notices)
    told = names_in_notices(app, account, numbers) if numbers else {}
    reader = NewsReader(account, visitor.wording, app.unread.counts(account), visitor.now, told)
    return list(named_news(groups, rows, names, reader))
