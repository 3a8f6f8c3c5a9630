"""The cross table of a section, its rounds and the entrants, as a page shows them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from domain.match.state import MatchState, robot_level
from domain.tournament.seasons import division_changes
from domain.tournament.standings import SectionTable, TableCell, TableLine
from domain.tournament.state import Entrant
from domain.tournament.swiss_rounds import cells_by_round
from domain.tournament.terms import TournamentForm
from domain.tournament.three_form import ThreeCell, byes_by_round
from infra.languages.wording import Wording
from services.app.context import App
from services.app.names import names_of
from services.app.tournaments import TournamentView, matches_going_on
from services.http.web.browser_stream import MAX_MATCHES
from services.http.web.tournaments.bracket_view import TieSide, shown_rounds
from services.words.tournaments import division_change, place_clause, points_text, side_and_number

_TONES: Final = {"1": "won", "+": "won", "½": "drawn", "0": "lost", "-": "lost", "x": "going"}
_PLACE_TONES: Final = _TONES | {"1=": "drawn", "2": "drawn", "2=": "lost", "3": "lost"}


class ShownEntrant(msgspec.Struct, frozen=True):
    """A player as pages of tournaments name one."""

    name: str
    """With a blank in it for an account that was erased."""
    rating: int
    robot: bool
    own: bool
    """Whether this is the visitor."""
    withdrawn: bool = False
    before: str = ""
    """Whose place this player has taken over; empty for others."""


class Cell(msgspec.Struct, frozen=True):
    """A match in a player's row of a cross table."""

    text: str
    """The player's part of the result, or how many moves were played, as `#12`; `·` before the match has begun."""
    tone: str
    """`won`, `drawn`, `lost`, `going`, or `due` if it is the player's turn."""
    said: str
    """The same for somebody who does not see the table."""
    board: int
    """0 before it has begun."""


class CrossRow(msgspec.Struct, frozen=True):
    """A player's row of a cross table."""

    player: ShownEntrant
    place: int
    points: str
    tiebreaks: tuple[str, ...]
    left: int
    """How many matches have no result."""
    possible: tuple[int, ...]
    """The best and the worst place that are still possible; one, if they are the same."""
    cells: tuple[tuple[Cell, ...], ...]
    """Of each column."""
    number: int
    """The number in the tournament, from 1, by which the columns of a Swiss tournament name opponents."""
    arrow: str = ""
    """`↑` for promotion after a season of a league, `↓` for relegation."""
    change: str = ""
    """The same in words, and that a player is not in the next season."""


class TableColumn(msgspec.Struct, frozen=True):
    """A column of a table: an opponent, or a round."""

    text: str
    title: str
    opponent: int | None
    """The opponent's number in the tournament."""


class ShownTie(msgspec.Struct, frozen=True):
    """A tie of a knockout with its players, and its matches as the first of them sees them."""

    sides: tuple[tuple[ShownEntrant, TieSide], ...]
    matches: tuple[Cell, ...]
    for_third: bool
    """Whether it is about the third place."""


class RoundMatch(msgspec.Struct, frozen=True):
    """A match in the list of a round."""

    names: tuple[str, ...]
    result: tuple[str, ...]
    """Each player's part; empty while there is none."""
    board: int
    """0 before it has begun."""


class ShownTable(msgspec.Struct, frozen=True):
    """A section as its page shows it."""

    rows: tuple[CrossRow, ...]
    columns: tuple[TableColumn, ...]
    bracket: tuple[tuple[str, tuple[ShownTie, ...]], ...]
    """The rounds of a knockout with their names; empty in other forms."""
    rounds: tuple[tuple[RoundMatch, ...], ...]
    live: tuple[str, ...]
    """The matches without a result, each with the number of its last event that the table knows, as `12:34`."""


def shown_entrants(
    app: App, some: Sequence[Entrant], words: Wording, viewer: bytes | None
) -> list[ShownEntrant]:
    """Return entrants as a page shows them."""
    names = names_of(app, [one.account for one in some], words)
    return [
        ShownEntrant(
            names[one.account],
            one.rating,
            robot_level(one.account) is not None,
            one.account == viewer,
        )
        for one in some
    ]


def shown_table(app: App, view: TournamentView, words: Wording, viewer: bytes | None) -> ShownTable:
    """Return the first table of a view; its matches that go on are read in one round trip."""
    (table, *_) = view.tables
    some = [view.state.entrants[player] for player in table.players]
    before = view.before
    names = names_of(app, before.values(), words)
    players = {
        player: msgspec.structs.replace(
            one,
            withdrawn=player in view.withdrawn,
            before=names[before[player]] if player in before else "",
        )
        for player, one in zip(table.players, shown_entrants(app, some, words, viewer), strict=True)
    }
    running = matches_going_on(app, view)
    reader = TableReader(view, players, running, words)
    live = (
        # a result that is not counted yet is an event that the table does not know
        f"{view.matches[pairing].board}:{state.seq - bool(state.over)}"
        for pairing, state in running.items()
    )
    columns = tuple(reader.columns(table))
    return ShownTable(
        tuple(reader.rows(table, columns)),
        columns,
        tuple(reader.bracket(table)),
        tuple(reader.rounds(table)),
        tuple(islice(live, MAX_MATCHES)),
    )


def _arrow(change: int | None) -> str:
    if not change:
        return ""
    return "↑" if change > 0 else "↓"


class TableReader(msgspec.Struct, frozen=True):
    """Puts a table into words."""

    view: TournamentView
    players: Mapping[int, ShownEntrant]
    running: Mapping[int, MatchState]
    words: Wording

    def columns(self, table: SectionTable) -> Iterator[TableColumn]:
        """Yield the columns: the opponents in the order of the rows, or in some forms the rounds."""
        by_round = (
            *(TournamentForm.KNOCKOUT, TournamentForm.SWISS, TournamentForm.TEAMS),
            TournamentForm.THREES,
        )
        if self.view.terms.form in by_round:
            rounds = [one.round for _, one in self.view.state.pairings]
            for number in range(1, max([self.view.state.stage, *rounds]) + 1):
                title = self.words.gettext("Round %(number)s", number=number)
                yield TableColumn(str(number), title, None)
            return
        for number, line in enumerate(table.lines, 1):
            yield TableColumn(str(number), self.players[line.player].name, line.player)

    def rows(self, table: SectionTable, columns: Sequence[TableColumn]) -> Iterator[CrossRow]:
        """Yield the rows."""
        rounds = {number: one.round for number, one in self.view.state.pairings}
        by_round = any(column.opponent is None for column in columns)
        view = self.view
        of_league = view.terms.league is not None
        changes = division_changes(view.sections[0], view.state, view.terms) if of_league else {}
        for line in table.lines:
            against: dict[int, list[Cell]] = {}
            if self.view.terms.form == TournamentForm.SWISS:
                against = dict(self._swiss_cells(line))
            else:
                for cell in line.cells:
                    at = rounds[cell.pairing] if by_round else cell.other
                    against.setdefault(at, []).append(self.cell(line.player, cell))
            if self.view.terms.form == TournamentForm.THREES:
                bye = self.words.gettext("bye")
                for at, resting in enumerate(byes_by_round(view.sections[0]), 1):
                    if line.player in resting:
                        against[at] = [Cell(bye, "drawn", bye, 0)]
            yield CrossRow(
                player=self.players[line.player],
                place=line.place,
                points=points_text(line.points, self.words),
                tiebreaks=tuple(points_text(one, self.words) for one in line.tiebreaks),
                left=line.left,
                possible=tuple(dict.fromkeys(line.possible)),
                cells=tuple(
                    tuple(against.get(at if column.opponent is None else column.opponent, ()))
                    for at, column in enumerate(columns, 1)
                ),
                number=line.player + 1,
                arrow=_arrow(changes.get(line.player, 0)),
                change=division_change(changes.get(line.player, 0), self.words),
            )

    def cell(self, player: int, cell: TableCell) -> Cell:
        """Return a match as a player of it sees it."""
        _, match = self.words.gettext, self.view.matches.get(cell.pairing)
        board, seats = match.board if match else 0, cell.seats_with(player)
        others = [self.players[one].name for one in seats if one != player]
        other = self.words.names(others)
        if cell.half and isinstance(cell, ThreeCell):
            said = place_clause(cell, others, self.words)
            return Cell(cell.half, _PLACE_TONES[cell.half], said, board)
        if cell.half:
            said = _("%(points)s against %(name)s", points=cell.half, name=other)
            return Cell(cell.half, _TONES[cell.half], said, board)
        state = self.running.get(cell.pairing)
        if state is None:
            return Cell("·", "going", _("not begun against %(name)s", name=other), board)
        mover = cell.other if state.next is None else seats[state.next]
        mine = mover == player and not state.over
        moves = self.words.ngettext("%(count)s move", "%(count)s moves", state.ply)
        turn = _("%(names)s to move", names=self.players[mover].name)
        said = _("against %(name)s", name=other)
        return Cell(f"#{state.ply}", "due" if mine else "going", f"{said}: {moves}, {turn}", board)

    def _swiss_cells(self, line: TableLine) -> Iterator[tuple[int, list[Cell]]]:
        """Yield a player's rounds, each with the opponent's number and side, or a bye."""
        _ = self.words.gettext
        for number, cell in cells_by_round(line, self.view.state).items():
            if cell is None:
                yield number, [Cell(_("bye"), "won", _("bye"), 0)]
                continue
            shown = self.cell(line.player, cell)
            side = _("first move") if cell.first else _("second move")
            text = f"{side_and_number(cell)} {shown.text}"
            said = f"{shown.said}, {side}"
            yield number, [msgspec.structs.replace(shown, text=text, said=said)]

    def bracket(self, table: SectionTable) -> Iterator[tuple[str, tuple[ShownTie, ...]]]:
        """Yield the rounds of a knockout."""
        if self.view.terms.form != TournamentForm.KNOCKOUT:
            return
        for one in shown_rounds(self.view, table, self.words):
            ties = (
                ShownTie(
                    tuple((self.players[side.player], side) for side in tie.sides),
                    tuple(self.cell(tie.sides[0].player, cell) for cell in tie.matches),
                    tie.for_third,
                )
                for tie in one.ties
            )
            yield one.name, tuple(ties)

    def rounds(self, table: SectionTable) -> Iterator[tuple[RoundMatch, ...]]:
        """Yield the matches of each round."""
        section = self.view.sections[0]
        results = {
            (cell.pairing, line.player): cell.half for line in table.lines for cell in line.cells
        }
        rounds: dict[int, list[RoundMatch]] = {}
        planned = zip(section.numbers, section.pairings, section.seats, strict=True)
        for number, one, seats in planned:
            match = self.view.matches.get(number)
            made = tuple(results[number, player] for player in seats)
            rounds.setdefault(one.round, []).append(
                RoundMatch(
                    tuple(self.players[player].name for player in seats),
                    made if all(made) else (),
                    match.board if match else 0,
                )
            )
        for at in sorted(rounds):
            yield tuple(rounds[at])
