"""Commands about tournaments: list them, show one, make it and run it, enter and leave it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from domain.records import AccountId
from domain.tournament.bracket import PlayedTie, rounds_of
from domain.tournament.seasons import division_changes
from domain.tournament.standings import SectionTable, TableLine
from domain.tournament.terms import TournamentForm
from domain.tournament.withdrawals import WithdrawalKind
from infra.languages.wording import N_, Wording
from services.app import teams as team_use_cases
from services.app import tournament_directors
from services.app import tournaments as use_cases
from services.app.context import App
from services.app.ladders import ladder_lines
from services.app.names import names_of
from services.app.tournaments import ListedTournament, TournamentView
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.authentication import signer_if_any
from services.language.form import OWN, CommandForm, signed
from services.language.handlers.messages import text_of
from services.language.handlers.rounds import LINES_BY_ROUND, NO_RESULT
from services.language.handlers.tournament_entry import CODE_FLAG, code, enter, invite
from services.language.handlers.tournament_entry import deliver_to as _deliver
from services.language.handlers.tournament_entry import number_in as _number
from services.language.handlers.tournament_entry import other_in as _other
from services.language.invocation import Invocation
from services.language.redact import check_public_name
from services.language.tournament_flags import plan_of
from services.words.entry_conditions import ENTRY_CONDITIONS
from services.words.tournaments import (
    division_change,
    game_line,
    phase_name,
    points_text,
    progress,
    record_text,
    round_name,
    season_sentence,
    start_sentence,
    substitute_clause,
    table_title,
    team_name,
    terms_lines,
    volunteers_clause,
)

_SELF: Final = "*"
"""A player against themselves, in a table."""


def tournaments(call: Invocation) -> Answer:
    """List the tournaments that are open for entry, or those of another list."""
    which = call.line.get("which").lower() or "open"
    viewer = call.identity.account if call.identity else None
    found = use_cases.tournaments_for(call.app, viewer, which)
    lines = [_line(one, call.words) for one in found]
    return Answer(page="\n".join(lines) or call.words.gettext("there are none"))


def _line(one: ListedTournament, words: Wording) -> str:
    row = one.row
    game = game_line(row.rules, row.options, words)
    said = f"{phase_name(row.phase, words)}, {progress(row, words)}"
    return f"{row.number:>6}  {one.name}: {game}; {said}"


def tournament(call: Invocation) -> Answer:
    """Show a tournament: its text, its terms, and its entrants or their tables."""
    viewer = call.identity.account if call.identity else None
    view = use_cases.view_of(call.app, viewer, _number(call))
    words, state = call.words, view.state
    said = [f"{view.said.name} ({view.number}): {phase_name(state.phase, words)}"]
    if not view.tables and not state.over:
        said.append(start_sentence(view.terms, words))
    if view.entered:
        waits = words.gettext("you have entered, and wait for room")
        said.append(waits if view.waits else words.gettext("you have entered"))
    if view.season:
        said.append(season_sentence(view.season, words))
    elif view.volunteers:
        said.append(words.gettext("you are a substitute"))
    parts = (view.said.text, "\n".join(_about(call, view)), *_players(call, view))
    return Answer("; ".join(said), "\n\n".join(filter(None, parts)))


def _about(call: Invocation, view: TournamentView) -> list[str]:
    """Return the lines about a tournament's terms and its organiser."""
    words, state = call.words, view.state
    names = names_of(call.app, [state.organiser, *state.directors], words)
    name, directors = names[state.organiser], [names[one] for one in state.directors]
    ruled = words.gettext("directors: %(names)s", names=", ".join(directors))
    return [
        *terms_lines(view.terms, words, view.club, view.state.opening),
        words.gettext("organiser: %(name)s", name=name),
        *([ruled] if directors else []),
    ]


def _players(call: Invocation, view: TournamentView) -> list[str]:
    """Return the entrants, or the table of each section."""
    words, names = call.words, names_of(call.app, view.players, call.words)
    if not view.tables or view.terms.teams is not None:
        of_teams = view.terms.teams is not None
        lines = _team_lines(call, view) if of_teams else _entrant_lines(view, names, words)
        return ["\n".join(lines)]
    shown = [names[account] for account in view.players]
    if view.state.ladder is not None:
        return ["\n".join(_ladder_rows(call, view, shown))]
    if view.terms.form == TournamentForm.KNOCKOUT:
        (table,) = view.tables
        return ["\n".join(_place_lines(table, shown, words)), *_round_lines(view, shown, words)]
    if lines_of := LINES_BY_ROUND.get(view.terms.form):
        (table,) = view.tables
        lines = lines_of(view, table, shown, words)
        return ["\n".join(lines), "\n".join(_substitute_lines(call.app, view, words))]
    if view.terms.league is not None:
        return ["\n".join(_division_lines(view, at, shown, words)) for at in _last_season(view)]
    tables = [
        "\n".join(
            [table_title(view.state, view.terms, n, words), *_table_lines(table, shown, words)]
        )
        for n, table in enumerate(view.tables, 1)
    ]
    return [*tables, "\n".join(_substitute_lines(call.app, view, words))]


def _substitute_lines(app: App, view: TournamentView, words: Wording) -> list[str]:
    """Return the lines about substitutes: those who have taken over a place, and those who would."""
    left, ready = view.state.substituted, [one.account for one in view.state.volunteers]
    accounts = [account for one in left for account in (one.substitute, one.account)]
    names = names_of(app, [*accounts, *ready], words)
    lines = [substitute_clause(names[one.substitute], names[one.account], words) for one in left]
    return [*lines, *([volunteers_clause([names[one] for one in ready], words)] if ready else ())]


def _ladder_rows(call: Invocation, view: TournamentView, names: Sequence[str]) -> Iterator[str]:
    """Yield the players of a ladder by place: record, matches that run, and whether the sender may challenge them."""
    words, viewer = call.words, call.identity.account if call.identity else None
    lines = ladder_lines(view, viewer, call.app.store.now())
    width = max((len(names[line.player]) for line in lines), default=0)
    for line in lines:
        said = []
        if line.running:
            count = len(line.running)
            said.append(words.ngettext("%(count)s match runs", "%(count)s matches run", count))
        if line.possible:
            said.append(words.gettext("you can challenge this player"))
        elif line.why_not:
            said.append(line.why_not.in_language(words))
        row = f"{line.place:>3}  {names[line.player]:{width}} {record_text(line.record):>8}  {'; '.join(said)}"
        yield row.rstrip()


def _team_lines(call: Invocation, view: TournamentView) -> Iterator[str]:
    """Yield a line for each team with its players: by place once it has started, before with those who have entered.

    Then a line for each match of two teams, with what the players of both have made.
    """
    words, rows = call.words, team_use_cases.teams_of(view)
    _ = words.gettext
    accounts = [account for row in rows for account in (row.captain, *row.players, *row.reserves)]
    names = names_of(call.app, accounts, words)
    teams = {}
    for row in rows:
        name = team_name(names[row.captain], words)
        if row.line is None:
            here = [
                _("%(name)s (has entered)", name=names[one]) if one in row.entered else names[one]
                for one in row.players
            ]
            yield f"{name}: {', '.join(here)}"
            continue
        teams[row.line.team] = name
        points = points_text(row.line.points, words)
        players = ", ".join(names[one] for one in row.players)
        yield f"{row.line.place:>3}  {name} {row.line.match_points} ({points}): {players}"
    for match in team_use_cases.matches_of_teams(view):
        one, other = (teams[team] for team in match.teams)
        made = " - ".join(points_text(points, words) for points in match.points)
        left = words.ngettext("%(count)s match goes on", "%(count)s matches go on", match.left)
        yield f"{one} {made} {other}" + (f", {left}" if match.left else "")


def _last_season(view: TournamentView) -> Iterator[int]:
    """Yield the numbers of the divisions of the last season, from 0."""
    for at, section in enumerate(view.sections):
        if section.stage == view.state.stage:
            yield at


def _division_lines(
    view: TournamentView, at: int, names: Sequence[str], words: Wording
) -> Iterator[str]:
    """Yield the table of a division, with how its players change divisions after the season."""
    table = view.tables[at]
    changes = division_changes(view.sections[at], view.state, view.terms)
    yield table_title(view.state, view.terms, at + 1, words)
    first, *rows = _table_lines(table, names, words)
    yield first
    for line, row in zip(table.lines, rows, strict=True):
        yield f"{row}  {division_change(changes.get(line.player, 0), words)}".rstrip()


def _place_lines(table: SectionTable, names: Sequence[str], words: Wording) -> Iterator[str]:
    """Yield the players of a knockout by place, each with the points and results of all matches."""
    width = max(len(names[line.player]) for line in table.lines)
    for line in table.lines:
        made = "".join(cell.half or NO_RESULT for cell in line.cells)
        yield f"{line.place:>3}  {names[line.player]:{width}} {points_text(line.points, words):>4}  {made}"


def _round_lines(view: TournamentView, names: Sequence[str], words: Wording) -> Iterator[str]:
    """Yield the ties of each round, and which of the two goes on."""
    for number, ties in enumerate(rounds_of(view.state, view.terms), 1):
        name = round_name(sum(not one.for_third for one in ties), number, words)
        yield "\n".join([name, *(f"  {_tie_line(one, names, words)}" for one in ties)])


def _tie_line(tie: PlayedTie, names: Sequence[str], words: Wording) -> str:
    one, other = tie.tie
    if other is None:
        return words.gettext("%(player)s has a bye", player=names[one])
    pair = f"{names[one]} - {names[other]}"
    if tie.for_third:
        pair = words.gettext("for third place: %(pair)s", pair=pair)
    if tie.winner is None:
        return pair
    return words.gettext("%(pair)s: %(player)s wins", pair=pair, player=names[tie.winner])


def _entrant_lines(
    view: TournamentView, names: Mapping[AccountId, str], words: Wording
) -> list[str]:
    """Return a line for each entrant before the start, in the order of entry; those without room say so."""
    waits = ", " + words.gettext("waits for room")
    return [
        f"{number:>3}  {names[one.account]} ({one.rating}){waits if number > view.terms.room else ''}"
        for number, one in enumerate(view.state.entrants, 1)
    ]


def _table_lines(table: SectionTable, names: Sequence[str], words: Wording) -> list[str]:
    """Return a section's table: place, number, player, points, and a cell for each opponent.

    `names` are those of all players by their numbers in the tournament. A match without a result is a dot; where a
    pair plays twice, a cell has both.
    """
    rows = [_cells(line, table.players) for line in table.lines]
    points = [points_text(line.points, words) for line in table.lines]
    name = max(len(names[player]) for player in table.players)
    most, wide = max(map(len, points)), max(len(cell) for row in rows for cell in row)
    wide = max(wide, len(str(len(rows))))
    numbers = {player: number for number, player in enumerate(table.players, 1)}
    before = " " * len(f"{0:>2} {0:>3}  {'':{name}} {'':{most}}  ")
    lines = [before + " ".join(f"{number:>{wide}}" for number in numbers.values())]
    for line, made, row in zip(table.lines, points, rows, strict=True):
        player = f"{line.place:>2} {numbers[line.player]:>3}  {names[line.player]:{name}}"
        lines.append(f"{player} {made:>{most}}  {' '.join(f'{cell:>{wide}}' for cell in row)}")
    return lines


def _cells(line: TableLine, players: Sequence[int]) -> list[str]:
    """Return the cells of a player in the order of the columns."""
    shown = dict.fromkeys(players, "")
    for cell in line.cells:
        shown[cell.other] += cell.half or NO_RESULT
    return [shown[player] or _SELF for player in players]


def new(call: Invocation) -> Answer:
    """Make a tournament, which its organiser opens for entry afterwards."""
    check_public_name(call.line, call.usage, call.words)
    plan = plan_of(call.line.get("value"), call.line.get("name"), call.line.all("flag"), call.words)
    asked = use_cases.draft_tournament(call.app, call.actor, plan)
    return _deliver(
        call,
        asked,
        N_("tournament %(number)s is made; `tournament open %(number)s` opens it for entry"),
    )


def open_entry(call: Invocation) -> Answer:
    """Open a tournament for entry."""
    asked = use_cases.open_entry(call.app, call.actor, _number(call))
    return _deliver(call, asked, N_("tournament %(number)s is open for entry"))


def team(call: Invocation) -> Answer:
    """Choose the players of the sender's team; none dissolve it."""
    named = [one for one in call.line.get("value").lower().split(",") if one]
    asked = team_use_cases.name_team(call.app, call.actor, _number(call), named)
    if not named:
        return _deliver(call, asked, N_("your team in tournament %(number)s is dissolved"))
    said = N_("your team in tournament %(number)s: %(names)s; each of them has to enter")
    return _deliver(call, asked, said, names=", ".join(named))


def leave(call: Invocation) -> Answer:
    """Take an entry back, or as the organiser that of another; leave a league before its next season."""
    player = _other(call)
    asked = use_cases.leave(call.app, call.actor, _number(call), player)
    removed = N_("%(player)s is no longer entered in tournament %(number)s")
    own = N_("you are no longer entered in tournament %(number)s")
    return _deliver(call, asked, removed if player else own, player=player.lower())


def start(call: Invocation) -> Answer:
    """Close the entry, and start the matches."""
    asked = use_cases.start(call.app, call.actor, _number(call))
    return _deliver(call, asked, N_("tournament %(number)s has started; its matches begin now"))


def challenge(call: Invocation) -> Answer:
    """Challenge a player of a ladder."""
    player = _other(call)
    asked = use_cases.challenge(call.app, call.actor, _number(call), player)
    said = N_("you have challenged %(player)s in tournament %(number)s; the match begins now")
    return _deliver(call, asked, said, player=player.lower())


def end(call: Invocation) -> Answer:
    """End a ladder."""
    asked = use_cases.end_ladder(call.app, call.actor, _number(call))
    return _deliver(call, asked, N_("ladder %(number)s is over with its last match"))


def withdraw(call: Invocation) -> Answer:
    """Take out a player who has left, as the organiser or an arbiter."""
    player = _other(call)
    kind = next(one for one in WithdrawalKind if call.line.has(one))
    asked = use_cases.withdraw(call.app, call.actor, _number(call), player, kind, text_of(call))
    left = N_("%(player)s has left tournament %(number)s")
    return _deliver(call, asked, left, player=player.lower())


def volunteer(call: Invocation) -> Answer:
    """Agree to take over the place of a player who leaves."""
    asked = use_cases.volunteer(call.app, call.actor, _number(call))
    return _deliver(
        call,
        asked,
        N_(
            "you are a substitute in tournament %(number)s; `tournament leave %(number)s` takes it back"
        ),
    )


def substitute(call: Invocation) -> Answer:
    """Let a volunteer take over the place of a player who leaves, as the organiser or an arbiter."""
    _, leaver, new = call.line.all("userid")
    asked = use_cases.substitute(call.app, call.actor, _number(call), leaver, new, text_of(call))
    taken = N_("%(substitute)s takes over the place of %(player)s in tournament %(number)s")
    return _deliver(call, asked, taken, player=leaver.lower(), substitute=new.lower())


def directors(call: Invocation) -> Answer:
    """Appoint those who rule beside the organiser."""
    named = call.line.all("userid")[1:]
    asked = tournament_directors.appoint(call.app, call.actor, _number(call), named)
    if not named:
        return _deliver(call, asked, N_("tournament %(number)s has no directors beside you now"))
    said = N_("directors of tournament %(number)s: %(names)s")
    return _deliver(call, asked, said, names=", ".join(one.lower() for one in named))


def decide(call: Invocation) -> Answer:
    """Decide a match that is not over, as the organiser, a director or an arbiter."""
    board, result = call.line.all("value")
    found = read_board(board, call.words)
    number = _number(call)
    asked = tournament_directors.adjudicate(
        call.app, call.actor, number, found, result, text_of(call)
    )
    decided = N_("match %(board)s of tournament %(number)s is decided: %(result)s")
    return _deliver(call, asked, decided, board=str(found), result=result)


def confirm(call: Invocation) -> Answer:
    """Confirm the places."""
    asked = use_cases.confirm(call.app, call.actor, _number(call))
    return _deliver(call, asked, N_("the places of tournament %(number)s are final"))


def cancel(call: Invocation) -> Answer:
    """Cancel a tournament before its start."""
    asked = use_cases.cancel(call.app, call.actor, _number(call))
    return _deliver(call, asked, N_("tournament %(number)s is cancelled"))


_shown: Final = partial(CommandForm, proof=signer_if_any)
"""Makes a form that anybody may send, and that shows more to an account."""

FORMS: Final = (
    _shown(
        "tournaments",
        "tournaments",
        f"[{OWN}] [open|running|ended|own]",
        N_("list the tournaments that are open for entry, or others"),
        tournaments,
    ),
    _shown(
        "tournament",
        "tournament",
        f"NUMBER [{OWN}]",
        N_("show a tournament, its terms, and its players or tables"),
        tournament,
    ),
    signed(
        "tournament_new",
        "tournament new",
        f"{OWN} GAME [-option ...] [--section=N] [--double] [--stages=FIRST/ALL/N,...] [--by-rating] [--knockout[=N]] [--extra=N] [--third] [--league=SIZE,UP,DOWN,SEASONS] [--swiss=ROUNDS] [--ladder[=N,...]] [--teams=N] [--threes=ROUNDS[,N,N,N]] [--round=DAYS] [--players=N] [--full] [--start=DATE] [--rating=LOW-HIGH] [--finished=N] "
        f"{' '.join(f'[{one.usage}]' for one in ENTRY_CONDITIONS)} [--code] "
        "[--club=CLUB] [--robots] [--seed-by-lot] [--lot] [--opening=MOVES] [--option ...] NAME",
        N_("make a tournament; -options are the game's, the last --options the time control's"),
        new,
    ),
    signed(
        "tournament_open",
        "tournament open",
        f"NUMBER {OWN}",
        N_("open your tournament for entry"),
        open_entry,
    ),
    signed(
        "tournament_invite",
        "tournament invite",
        f"NUMBER {OWN} userid ...",
        N_("invite players to your tournament, if it is for invited players alone"),
        invite,
    ),
    signed(
        "tournament_code",
        "tournament code",
        f"NUMBER {OWN}",
        N_("make a new code for entering your tournament, if it has one"),
        code,
    ),
    signed(
        "tournament_enter",
        "tournament enter",
        f"NUMBER {OWN} [userid] [{CODE_FLAG}=CODE]",
        N_(
            "enter a tournament, naming the captain if it is one of teams; or enter a robot in your own"
        ),
        enter,
    ),
    signed(
        "tournament_team",
        "tournament team",
        f"NUMBER {OWN} [userid,userid ...]",
        N_("name the players of your team in order; without any, the team is dissolved"),
        team,
    ),
    signed(
        "tournament_leave",
        "tournament leave",
        f"NUMBER {OWN} [userid]",
        N_(
            "take your entry back before the start, or leave a ladder, or a league after its season"
        ),
        leave,
    ),
    signed(
        "tournament_start",
        "tournament start",
        f"NUMBER {OWN}",
        N_("close the entry to your tournament, and start its matches"),
        start,
    ),
    signed(
        "tournament_challenge",
        "tournament challenge",
        f"NUMBER {OWN} userid",
        N_("challenge a player of a ladder; the match begins at once"),
        challenge,
    ),
    signed(
        "tournament_end",
        "tournament end",
        f"NUMBER {OWN}",
        N_("end your ladder: nobody can challenge any more"),
        end,
    ),
    signed(
        "tournament_withdraw",
        "tournament withdraw",
        f"NUMBER {OWN} userid accepted|silent TEXT",
        N_("take a player out of your tournament who has said so, or has left without a word"),
        withdraw,
    ),
    signed(
        "tournament_volunteer",
        "tournament volunteer",
        f"NUMBER {OWN}",
        N_("agree to take over the place of a player who leaves a tournament that runs"),
        volunteer,
    ),
    signed(
        "tournament_substitute",
        "tournament substitute",
        f"NUMBER {OWN} userid userid TEXT",
        N_("let a volunteer, named second, take over the place of a player in your tournament"),
        substitute,
    ),
    signed(
        "tournament_directors",
        "tournament directors",
        f"NUMBER {OWN} [userid ...]",
        N_("appoint those who rule beside you in your tournament, in place of those before"),
        directors,
    ),
    signed(
        "tournament_decide",
        "tournament decide",
        f"NUMBER {OWN} BOARD 1-0|0-1|1/2|1-2-2 TEXT",
        N_("decide a match of a tournament that you direct, with reasons for its players"),
        decide,
    ),
    signed(
        "tournament_confirm",
        "tournament confirm",
        f"NUMBER {OWN}",
        N_("confirm the places of your tournament once all its matches are over"),
        confirm,
    ),
    signed(
        "tournament_cancel",
        "tournament cancel",
        f"NUMBER {OWN}",
        N_("cancel your tournament before it starts"),
        cancel,
    ),
)
