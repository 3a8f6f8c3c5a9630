"""The cross table of a section, its rounds and the entrants, as a page shows them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from domain.match.state import MatchState, robot_level
from domain.tournament.standings import SectionTable, TableCell, TableLine
from domain.tournament.state import Entrant
from infra.languages.wording import Wording
from services.app.context import App
from services.app.names import names_of
from services.app.tournaments import TournamentView, matches_going_on
from services.http.web.browser_stream import MAX_MATCHES
from services.words.tournaments import points_text

_TONES: Final = {"1": "won", "+": "won", "½": "drawn", "0": "lost", "-": "lost", "x": "going"}


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
    """Of each opponent in the order of the rows; empty for the player's own."""


class RoundMatch(msgspec.Struct, frozen=True):
    """A match in the list of a round."""

    first: str
    second: str
    result: tuple[str, ...]
    """Each player's part; empty while there is none."""
    board: int
    """0 before it has begun."""


class ShownTable(msgspec.Struct, frozen=True):
    """A section as its page shows it."""

    rows: tuple[CrossRow, ...]
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
    reader = _TableReader(view, players, running, words)
    live = (
        # a result that is not counted yet is an event that the table does not know
        f"{view.matches[pairing].board}:{state.seq - bool(state.over)}"
        for pairing, state in running.items()
    )
    return ShownTable(
        tuple(reader.rows(table)), tuple(reader.rounds(table)), tuple(islice(live, MAX_MATCHES))
    )


class _TableReader(msgspec.Struct, frozen=True):
    """Puts a table into words."""

    view: TournamentView
    players: Mapping[int, ShownEntrant]
    running: Mapping[int, MatchState]
    words: Wording

    def rows(self, table: SectionTable) -> Iterator[CrossRow]:
        """Yield the rows, the columns in the same order."""
        for line in table.lines:
            against: dict[int, list[TableCell]] = {}
            for cell in line.cells:
                against.setdefault(cell.other, []).append(cell)
            yield CrossRow(
                player=self.players[line.player],
                place=line.place,
                points=points_text(line.points, self.words),
                tiebreaks=tuple(points_text(one, self.words) for one in line.tiebreaks),
                left=line.left,
                possible=tuple(dict.fromkeys(line.possible)),
                cells=tuple(
                    tuple(self._cell(line, cell) for cell in against.get(one.player, ()))
                    for one in table.lines
                ),
            )

    def _cell(self, line: TableLine, cell: TableCell) -> Cell:
        _, match = self.words.gettext, self.view.matches.get(cell.pairing)
        board = match.board if match else 0
        other = self.players[cell.other].name
        if cell.half:
            said = _("%(points)s against %(name)s", points=cell.half, name=other)
            return Cell(cell.half, _TONES[cell.half], said, board)
        state = self.running.get(cell.pairing)
        if state is None:
            return Cell("·", "going", _("not begun against %(name)s", name=other), board)
        mine = state.next == (0 if cell.first else 1) and not state.over
        who = self.players[line.player if mine else cell.other].name
        moves = self.words.ngettext("%(count)s move", "%(count)s moves", state.ply)
        turn = _("%(names)s to move", names=who)
        said = _("against %(name)s", name=other)
        return Cell(f"#{state.ply}", "due" if mine else "going", f"{said}: {moves}, {turn}", board)

    def rounds(self, table: SectionTable) -> Iterator[tuple[RoundMatch, ...]]:
        """Yield the matches of each round."""
        section = self.view.state.sections[self.view.first - 1]
        results = {
            (cell.pairing, cell.first): cell.half for line in table.lines for cell in line.cells
        }
        rounds: dict[int, list[RoundMatch]] = {}
        for number, one in zip(section.numbers, section.pairings, strict=True):
            match, half = self.view.matches.get(number), results[number, True]
            rounds.setdefault(one.round, []).append(
                RoundMatch(
                    self.players[one.first].name,
                    self.players[one.second].name,
                    (half, results[number, False]) if half else (),
                    match.board if match else 0,
                )
            )
        for at in sorted(rounds):
            yield tuple(rounds[at])
