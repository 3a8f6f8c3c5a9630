"""The command that lists the best scores of a puzzle.

Commands about results: history, standings, ratings, and the players of a game.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.rules import game_keys, latest_rules
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.projections.finished_matches import FinishedMatchRow
from infra.projections.ratings import Rating, pool_of
from services.app.games import check_multiplayer, read_puzzle
from services.app.names import name_of, names_by_seat, names_of, robot_userids
from services.app.opponents import games_of_robots, robots_here
from services.app.queries import (
    best_scores,
    count_finished,
    finished_matches,
    head_to_head,
    rating_series,
    score_of,
)
from services.language.answer import Answer
from services.language.arguments import nearest
from services.language.handlers.listing import players_of
from services.language.invocation import Invocation
from services.words.endings import ending_in_list

SHOWN: Final = 20
"""Rows of a leaderboard."""


def scores(call: Invocation) -> Answer:
    """List the best scores of a puzzle, with the best that is known to be possible."""
    rules, words = read_puzzle(call.rules.key), call.words
    options = rules.read_options(call.line.all("flag"))
    rows = best_scores(call.app, rules, call.line.all("flag"), count=SHOWN)
    names = names_by_seat(call.app, [row.account for row in rows], words)
    bound = rules.score(rules.start(options, 1, None))
    lines = [
        words.gettext(
            "%(place)2s %(name)s: %(score)s (match %(board)s)",
            place=place,
            name=name,
            score=text_in(score_of(call.app, row).text, words),
            board=row.board,
        )
        for place, (name, row) in enumerate(zip(names, rows, strict=True), 1)
    ]
    empty = [words.gettext("nobody has finished it yet")] if not lines else []
    game = " ".join([rules.title, *rules.write_options(options)])
    head = words.gettext("%(game)s: the best scores", game=game)
    return Answer(
        page="\n".join(
            [head, *([text_in(bound.limit, words)] if bound else []), "", *lines, *empty]
        )
    )


LINES = 50
"""Rows of a list."""

PLAYERS = 1_000
"""Players listed at most."""

_PAIR = 2


def history(call: Invocation) -> Answer:
    """List finished matches of a game or of all games: all, a player's, or those of two players."""
    accounts = [call.app.accounts.id_of(name) for name in call.line.all("userid")]
    one = call.line.has("game")
    keys = [call.rules.key] if one else game_keys()
    rows = [row for key in keys for row in finished_matches(call.app, key, accounts, 0, LINES)]
    rows = sorted(rows, key=lambda row: -row.at)[:LINES]
    count = sum(count_finished(call.app, key, accounts) for key in keys)
    wanted = {a for row in rows for a in row.seats} | set(accounts)
    names = names_of(call.app, wanted, call.words)
    lines = [
        _line(row, names, call.words) + ("" if one else f", {row.rules.partition('/')[0]}")
        for row in rows
    ]
    if len(accounts) == _PAIR and one:
        lines.insert(0, _between(call, accounts, names))
    _ = call.words.gettext
    head = _("the last %(some)s of %(count)s", some=LINES, count=count) if count > LINES else ""
    return Answer(head, "\n".join(lines) or _("none has been finished yet"))


def _line(row: FinishedMatchRow, names: Mapping[AccountId, str], words: Wording) -> str:
    players = players_of(row.rules, row.seats, names, words)
    winners = [names[row.seats[seat]] for seat in row.winners]
    ended = ending_in_list(row.reason, winners, len(row.seats), words)
    moves = words.ngettext("%(count)s move", "%(count)s moves", row.plies)
    return f"{row.board:>6}  {players}: {ended}, {moves}, {words.stamp(row.at)}"


def _between(
    call: Invocation, accounts: Sequence[AccountId], names: Mapping[AccountId, str]
) -> str:
    one, other = accounts
    tally = head_to_head(call.app, call.rules.key, one, other)
    drawn = call.words.gettext("level %(count)s", count=tally.drawn)
    return f"{names[one]} {tally.won}, {names[other]} {tally.lost}, {drawn}"


def standings(call: Invocation) -> Answer:
    """List how often each player has won."""
    check_multiplayer(call.rules)
    return Answer(page=_standings(call, call.rules.key) or _nobody_finished(call))


def all_standings(call: Invocation) -> Answer:
    """List how often each player has won, game by game."""
    tables = [(latest_rules(key).title, _standings(call, key)) for key in game_keys()]
    pages = [f"{title}\n{table}" for title, table in tables if table]
    return Answer(page="\n\n".join(pages) or _nobody_finished(call))


def _nobody_finished(call: Invocation) -> str:
    return call.words.gettext("nobody has finished a match yet")


def _standings(call: Invocation, key: str) -> str:
    """Return the table of a game; empty if nobody has finished a match."""
    rows, _ = call.app.standings.of(key, 0, LINES), call.words.gettext
    names = names_of(call.app, [row.account for row in rows], call.words)
    lines = [
        f"{place:>4}  {names[row.account]:<20} {row.points:>8.2f} {row.played:>7} {row.won:>5} "
        f"{row.drawn:>6} {row.lost:>5}"
        for place, row in enumerate(rows, 1)
    ]
    head = (
        f"      {_('player'):<20} {_('points'):>8} {_('matches'):>7} {_('won'):>5} {_('shared'):>6} "
        f"{_('lost'):>5}"
    )
    return "\n".join([head, *lines]) if lines else ""


def ratings(call: Invocation) -> Answer:
    """List the ratings of a game, or how a player's came about."""
    check_multiplayer(call.rules)
    if call.line.has("userid"):
        return _series(call)
    rows = call.app.ratings.of(call.rules.key, 0, LINES)
    names = names_of(call.app, [row.account for row in rows], call.words)
    lines = [
        f"{place:>4}  {names[row.account]:<20} {_rated(row.rating, call.words)}"
        for place, row in enumerate(rows, 1)
    ]
    nobody = call.words.gettext("nobody has finished a rated match yet")
    return Answer(page="\n".join(lines) or nobody)


def _series(call: Invocation) -> Answer:
    account = call.app.accounts.id_of(call.line.get("userid"))
    game, name, _ = (
        pool_of(call.rules.key, [account]),
        name_of(call.app, account),
        call.words.gettext,
    )
    rating, points = rating_series(call.app, game, account, LINES)
    if not rating.matches:
        return Answer(page=_("%(name)s hasn't finished a rated match yet", name=name))
    place = call.app.ratings.place(game, account)
    lines = [
        _(
            "%(rating)6s  after match %(board)s, %(moment)s",
            rating=point.display_value,
            board=point.board,
            moment=call.words.stamp(point.at),
        )
        for point in points
    ]
    head = _(
        "%(name)s is rated %(rating)s, number %(place)s of %(count)s",
        name=name,
        rating=_rated(rating, call.words),
        place=place,
        count=call.app.ratings.count(game),
    )
    return Answer(head, "\n".join(lines))


def _rated(rating: Rating, words: Wording) -> str:
    return words.ngettext(
        "%(rating)5s after %(count)s match",
        "%(rating)5s after %(count)s matches",
        rating.matches,
        rating=rating.display_value,
    )


def list_players(call: Invocation) -> Answer:
    """List the players, or those who have begun or finished a match of some games."""
    if not call.line.has("subject"):
        return _everybody(call)
    return Answer(page="\n".join(_of_game(call, key.lower()) for key in call.line.all("subject")))


def _everybody(call: Invocation) -> Answer:
    app, words = call.app, call.words
    names, robots = app.accounts.names(0, PLAYERS + 1), robot_userids(app)
    shown = [
        words.gettext("%(name)s (robot)", name=name) if name in robots else name
        for name in names[:PLAYERS]
    ]
    if not shown:
        return Answer(page=words.gettext("nobody has signed up yet"))
    page = words.names(shown)
    if len(names) > PLAYERS:
        page += " " + words.gettext("(only the first %(count)s)", count=words.number(PLAYERS))
    return Answer(page=page)


def list_robots(call: Invocation) -> Answer:
    """List the robots that play here, the weakest first, and how to challenge one."""
    robots, _ = robots_here(call.app), call.words.gettext
    found = [rules.key for rules in games_of_robots(call.app)]
    if not robots or not found:
        return Answer(page=_("this server has no robots"))
    lines = [f"{robot.userid:<20} {robot.level}" for robot in robots]
    games = call.words.names(found)
    return Answer(
        page="\n".join(
            [
                *lines,
                "",
                _("each plays %(games)s; matches with robots are never rated", games=games),
                _(
                    "to play one: %(game)s challenge userid %(robot)s",
                    game=found[0],
                    robot=robots[0].userid,
                ),
            ]
        )
    )


def _of_game(call: Invocation, key: str) -> str:
    app, words = call.app, call.words
    if key not in game_keys():
        known = {game: f"list {game}" for game in game_keys()}
        said = words.gettext("there is no game %(name)s", name=repr(key[:24]))
        raise Refusal(Code.UNKNOWN_GAME, f"{said}; {nearest(key, known, words)}")
    active = {a for row in app.lists.playing(key, 0, PLAYERS) for a in row.seats}
    finished = {row.account for row in app.standings.of(key, 0, PLAYERS)}
    names = sorted(name for name in app.accounts.name_of(list(active | finished)) if name)
    listed = words.names(names) if names else words.gettext("nobody yet")
    return f"{latest_rules(key).title}: {listed}"
