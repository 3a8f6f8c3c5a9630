"""Commands about results: history, standings, ratings, and the players of a game."""

from collections.abc import Mapping, Sequence

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from domain.rules import latest_rules, rules_by_id
from infra.projections.finished_matches import FinishedMatchRow
from infra.projections.ratings import Rating
from services.app.context import App
from services.app.endings import ending_in_list
from services.app.games import check_multiplayer, game_keys
from services.app.names import join_names, name_of, names_of, robot_userids
from services.app.opponents import games_of_robots, robots_here
from services.app.queries import count_finished, finished_matches, head_to_head, rating_series
from services.language.answer import Answer
from services.language.arguments import nearest
from services.language.invocation import Invocation
from services.language.render.dates import instant

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
    names = names_of(call.app, {a for row in rows for a in row.seats} | set(accounts))
    lines = [
        _line(row, names) + ("" if one else f", {row.rules.partition('/')[0]}") for row in rows
    ]
    if len(accounts) == _PAIR and one:
        lines.insert(0, _between(call, accounts, names))
    head = f"the last {LINES} of {count}" if count > LINES else ""
    return Answer(head, "\n".join(lines) or "none has been finished yet")


def _line(row: FinishedMatchRow, names: Mapping[AccountId, str]) -> str:
    sides = rules_by_id(row.rules).side_names
    players = ", ".join(f"{sides[seat]} {names[a]}" for seat, a in enumerate(row.seats))
    winners = [names[row.seats[seat]] for seat in row.winners]
    ended = ending_in_list(row.reason, winners, len(row.seats))
    return f"{row.board:>6}  {players}: {ended}, {row.plies} moves, {instant(row.at)}"


def _between(
    call: Invocation, accounts: Sequence[AccountId], names: Mapping[AccountId, str]
) -> str:
    one, other = accounts
    tally = head_to_head(call.app, call.rules.key, one, other)
    return f"{names[one]} {tally.won}, {names[other]} {tally.lost}, level {tally.drawn}"


def standings(call: Invocation) -> Answer:
    """List how often each player has won."""
    check_multiplayer(call.rules)
    return Answer(page=_standings(call.app, call.rules.key) or "nobody has finished a match yet")


def all_standings(call: Invocation) -> Answer:
    """List how often each player has won, game by game."""
    tables = [(latest_rules(key).title, _standings(call.app, key)) for key in game_keys()]
    pages = [f"{title}\n{table}" for title, table in tables if table]
    return Answer(page="\n\n".join(pages) or "nobody has finished a match yet")


def _standings(app: App, key: str) -> str:
    """Return the table of a game; empty if nobody has finished a match."""
    rows = app.standings.of(key, 0, LINES)
    names = names_of(app, [row.account for row in rows])
    lines = [
        f"{place:>4}  {names[row.account]:<20} {row.points:>8.2f} {row.played:>7} {row.won:>5} "
        f"{row.drawn:>6} {row.lost:>5}"
        for place, row in enumerate(rows, 1)
    ]
    head = f"      {'player':<20} {'points':>8} {'matches':>7} {'won':>5} {'shared':>6} {'lost':>5}"
    return "\n".join([head, *lines]) if lines else ""


def ratings(call: Invocation) -> Answer:
    """List the ratings of a game, or how a player's came about."""
    check_multiplayer(call.rules)
    if call.line.has("userid"):
        return _series(call)
    rows = call.app.ratings.of(call.rules.key, 0, LINES)
    names = names_of(call.app, [row.account for row in rows])
    lines = [
        f"{place:>4}  {names[row.account]:<20} {_rated(row.rating)}"
        for place, row in enumerate(rows, 1)
    ]
    return Answer(page="\n".join(lines) or "nobody has finished a rated match yet")


def _series(call: Invocation) -> Answer:
    account = call.app.accounts.id_of(call.line.get("userid"))
    game, name = call.rules.key, name_of(call.app, account)
    rating, points = rating_series(call.app, game, account, LINES)
    if not rating.matches:
        return Answer(page=f"{name} has finished no rated match")
    place = call.app.ratings.place(game, account)
    lines = [
        f"{point.display_value:>6}  after match {point.board}, {instant(point.at)}"
        for point in points
    ]
    head = f"{name} is rated {_rated(rating)}, number {place} of {call.app.ratings.count(game)}"
    return Answer(head, "\n".join(lines))


def _rated(rating: Rating) -> str:
    return f"{rating.display_value:>5} after {rating.matches} match{'es' * (rating.matches != 1)}"


def list_players(call: Invocation) -> Answer:
    """List the players, or those who have begun or finished a match of some games."""
    if not call.line.has("subject"):
        return _everybody(call.app)
    return Answer(
        page="\n".join(_of_game(call.app, key.lower()) for key in call.line.all("subject"))
    )


def _everybody(app: App) -> Answer:
    names, robots = app.accounts.names(0, PLAYERS + 1), robot_userids(app)
    more = f" (only the first {PLAYERS:,})" if len(names) > PLAYERS else ""
    shown = [f"{name} (robot)" if name in robots else name for name in names[:PLAYERS]]
    return Answer(page=f"{join_names(shown) or 'nobody has signed up yet'}{more}")


def list_robots(call: Invocation) -> Answer:
    """List the robots that play here, the weakest first, and how to challenge one."""
    robots = robots_here(call.app)
    if not robots:
        return Answer(page="no robots play here")
    lines = [f"{robot.userid:<20} {robot.level}" for robot in robots]
    games = join_names([rules.key for rules in games_of_robots()])
    first = games_of_robots()[0].key
    return Answer(
        page="\n".join(
            [
                *lines,
                "",
                f"each plays {games}; a match with a robot is never rated",
                f"to play one: {first} challenge userid {robots[0].userid}",
            ]
        )
    )


def _of_game(app: App, key: str) -> str:
    if key not in game_keys():
        known = {game: f"list {game}" for game in game_keys()}
        raise Refusal(Code.UNKNOWN_GAME, f"there is no game {key[:24]!r}; {nearest(key, known)}")
    active = {a for row in app.lists.playing(key, 0, PLAYERS) for a in row.seats}
    finished = {row.account for row in app.standings.of(key, 0, PLAYERS)}
    names = sorted(name for name in app.accounts.name_of(list(active | finished)) if name)
    return f"{latest_rules(key).title}: {join_names(names) or 'nobody yet'}"
