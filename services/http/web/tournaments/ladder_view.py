"""A ladder as its page shows it."""

from itertools import islice

import msgspec

from domain.records import AccountId
from domain.tournament.standings import TableCell
from infra.languages.wording import Wording
from services.app.context import App
from services.app.ladders import LadderLine, ladder_lines
from services.app.tournaments import TournamentView, matches_going_on
from services.http.web.browser_stream import MAX_MATCHES
from services.http.web.lists.match_rows import PAGE_SIZE, ListPart
from services.http.web.tournaments.table_view import Cell, ShownEntrant, TableReader, shown_entrants
from services.words.tournaments import last_change, record_text


class LadderRow(msgspec.Struct, frozen=True):
    """A player's row of a ladder."""

    player: ShownEntrant
    place: int
    record: str
    """Won, drawn and lost, such as `5-1-2`."""
    change: int
    """How many places the last change was up; below 0, down."""
    changed: str
    """The same with its date; empty if there was none."""
    matches: tuple[Cell, ...]
    """Those that run."""
    possible: bool
    """Whether the visitor may challenge the player now."""
    why_not: str
    """Why not; empty for the visitor's own row, and for visitors who are not on the ladder."""


class ShownLadder(msgspec.Struct, frozen=True):
    """A page of a ladder."""

    rows: tuple[LadderRow, ...]
    part: ListPart
    live: tuple[str, ...]
    """As in a `ShownTable`."""


def shown_ladder(
    app: App, view: TournamentView, words: Wording, viewer: AccountId | None, start: int
) -> ShownLadder:
    """Return the page of a ladder that begins after `start` places; its matches that run are read in one round trip."""
    assert view.state.ladder is not None
    lines = ladder_lines(view, viewer, app.store.now(), start, PAGE_SIZE)
    pairings = dict(view.state.pairings)
    shown = {number: pairings[number] for line in lines for number in line.running}
    numbers = [line.player for line in lines]
    numbers += [player for one in shown.values() for player in (one.first, one.second)]
    some = [view.state.entrants[player] for player in numbers]
    players = dict(zip(numbers, shown_entrants(app, some, words, viewer), strict=True))
    running = matches_going_on(app, view, shown.keys())
    reader = TableReader(view, players, running, words)

    def row(line: LadderLine) -> LadderRow:
        cells = []
        for number in line.running:
            one = shown[number]
            first = one.first == line.player
            other = one.second if first else one.first
            cells.append(reader.cell(line.player, TableCell(number, other, first=first, half="")))
        return LadderRow(
            player=players[line.player],
            place=line.place,
            record=record_text(line.record),
            change=line.record.change,
            changed=last_change(line.record, words),
            matches=tuple(cells),
            possible=line.possible,
            why_not=line.why_not.in_language(words) if line.why_not else "",
        )

    part = ListPart.of(
        words.gettext("Ladder"),
        start=start,
        shown=len(lines),
        total=len(view.state.ladder.order),
        path=f"/tournaments/{view.number}",
    )
    live = (
        f"{view.matches[n].board}:{state.seq - bool(state.over)}" for n, state in running.items()
    )
    return ShownLadder(tuple(map(row, lines)), part, tuple(islice(live, MAX_MATCHES)))
