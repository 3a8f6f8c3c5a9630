"""Commands that look across matches: all show, games, show with userids."""

from collections.abc import Mapping, Sequence

from domain.records import AccountId
from domain.rules import rules_by_id
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.projections.match_lists import MatchFilter, MatchListRow
from services.app.names import names_of
from services.app.tournament_names import tournaments_of_matches
from services.language.answer import Answer
from services.language.handlers.boards import BOARDS, drawn_now
from services.language.invocation import Invocation
from services.words.endings import ending_in_list

LINES = 100
"""Matches listed in one answer."""


def all_show(call: Invocation) -> Answer:
    """Draw a player's boards in all games."""
    account = call.app.accounts.id_of(call.line.get("userid"))
    rows = call.app.lists.of(account, _state(call), None, 0, BOARDS + 1)
    return _drawn(call, rows)


def show_players(call: Invocation) -> Answer:
    """Draw the boards of players in one game."""
    accounts = [call.app.accounts.id_of(name) for name in call.line.all("userid")]
    return _drawn(call, _rows(call, accounts, BOARDS + 1))


def games(call: Invocation) -> Answer:
    """List the matches of players in one game, or all that go on in it."""
    accounts = [call.app.accounts.id_of(name) for name in call.line.all("userid")]
    if accounts:
        rows = _rows(call, accounts, LINES + 1)
    else:
        rows = call.app.lists.playing(call.rules.key, 0, LINES + 1)
    return _listed(call, rows)


def _state(call: Invocation) -> MatchFilter:
    return MatchFilter(call.line.get("state").lower() or MatchFilter.ACTIVE)


def _rows(call: Invocation, accounts: Sequence[AccountId], count: int) -> list[MatchListRow]:
    """Return the matches of players, each once."""
    found: dict[int, MatchListRow] = {}
    for account in accounts:
        for row in call.app.lists.of(account, _state(call), call.rules.key, 0, count):
            found.setdefault(row.board, row)
    return list(found.values())[:count]


def _drawn(call: Invocation, rows: Sequence[MatchListRow]) -> Answer:
    if not rows:
        return Answer(page=call.words.gettext("there are none"))
    boards = "\n\n\n".join(drawn_now(call.app, row.board, call.words) for row in rows[:BOARDS])
    if len(rows) <= BOARDS:
        return Answer(page=boards)
    said = call.words.gettext(
        "these are the first %(count)s; `GAME games userid` lists more", count=BOARDS
    )
    return Answer(said, boards)


def _listed(call: Invocation, rows: Sequence[MatchListRow]) -> Answer:
    if not rows:
        return Answer(page=call.words.gettext("there are none"))
    lines = lines_of(call, rows[:LINES])
    if len(rows) <= LINES:
        return Answer(page="\n".join(lines))
    said = call.words.gettext("these are the first %(count)s", count=LINES)
    return Answer(said, "\n".join(lines))


def lines_of(call: Invocation, rows: Sequence[MatchListRow]) -> list[str]:
    """Return a line for each match: its number, its players, how it stands or ended, and its tournament."""
    words = call.words
    names = names_of(call.app, {account for row in rows for account in row.seats}, words)
    tournaments = tournaments_of_matches(call.app, call.origin.proven, rows)
    return [
        f"{row.board:>6}  {players_of(row.rules, row.seats, names, words)}{_options(row)}: "
        f"{_standing(row, names, words)}{_tournament(row, tournaments, words)}"
        for row in rows
    ]


def players_of(
    rules: str, seats: Sequence[AccountId], names: Mapping[AccountId, str], words: Wording
) -> str:
    """Return the players of a match, each after the side."""
    sides = rules_by_id(rules).sides
    return ", ".join(
        f"{text_in(sides[seat], words)} {names[account]}" for seat, account in enumerate(seats)
    )


def _options(row: MatchListRow) -> str:
    return f" ({' '.join(row.options)})" if row.options else ""


def _tournament(row: MatchListRow, names: Mapping[int, str], words: Wording) -> str:
    """Return the tournament of a match after a semicolon; nothing where its name is not known."""
    if row.tournament not in names:
        return ""
    said = words.gettext(
        "tournament %(number)s, %(name)s", number=row.tournament, name=names[row.tournament]
    )
    return f"; {said}"


def _standing(row: MatchListRow, names: Mapping[AccountId, str], words: Wording) -> str:
    if row.winners is not None:
        winners = [names[row.seats[seat]] for seat in row.winners]
        ended = ending_in_list(row.reason, winners, len(row.seats), words)
        return f"{ended}, {words.stamp(row.ended)}"
    waited = words.names([names[row.seats[seat]] for seat in row.waits])
    if not row.started:
        return words.gettext("waiting for %(names)s to accept", names=waited)
    return words.gettext(
        "#%(ply)s, %(names)s to move since %(moment)s",
        ply=row.ply,
        names=waited,
        moment=words.stamp(row.since),
    )
