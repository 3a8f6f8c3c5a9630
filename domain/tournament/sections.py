"""Sections of a stage, and the players who go on to the next stage."""

from collections.abc import Sequence
from typing import Final

from domain.tournament.table import TableRow

FEWEST_IN_SECTION: Final = 3
MOST_IN_SECTION: Final = 15


def split_sections(entrants: int, size: int) -> list[list[int]]:
    """Return as many sections as sections of that size need, each with its players in order.

    Sizes differ by one at most. Players are dealt in a snake, so that sections are equally strong: 0, 1, 2 go into the
    first three sections, 3 into the third again. If a section would have fewer than 3 players there are fewer
    sections. Raises `ValueError` for fewer than 3 entrants and for a size outside 3 to 15.
    """
    if entrants < FEWEST_IN_SECTION or not FEWEST_IN_SECTION <= size <= MOST_IN_SECTION:
        raise ValueError(f"no sections of {size} for {entrants} entrants")
    count = min(-(-entrants // size), entrants // FEWEST_IN_SECTION)
    sections: list[list[int]] = [[] for _ in range(count)]
    for player in range(entrants):
        row, column = divmod(player, count)
        sections[column if row % 2 == 0 else count - 1 - column].append(player)
    return sections


def qualifiers(
    tables: Sequence[Sequence[TableRow]], first: int, total: int
) -> tuple[list[TableRow], list[TableRow]]:
    """Return who goes on from the tables of sections: the first of each, and the best next ones up to a total.

    Both lists are in order: by place, then by points for each match that counts, because sections may differ in size,
    then by tie-breaks, then by player. Players who share a place are taken in the order of their numbers; `shared_at` says
    whether that decides. The players of the rows are numbers within their sections, unless the caller has put those of
    the tournament in their place.
    """
    through = [row for table in tables for row in table[:first]]
    others = [row for table in tables for row in table[first:]]
    spare = max(0, total - len(through))
    return sorted(through, key=_merit), sorted(others, key=_merit)[:spare]


def _merit(row: TableRow) -> tuple[object, ...]:
    """Return what places a row among those of other sections; the least is the best."""
    return (
        row.place,
        -row.points / max(1, row.counted),
        tuple(-value for value in row.tiebreaks),
        row.player,
    )


def shared_at(table: Sequence[TableRow], first: int) -> list[int]:
    """Return the players who share the place on both sides of the line after the first so many; usually none."""
    if not 0 < first < len(table) or table[first - 1].place != table[first].place:
        return []
    return [row.player for row in table if row.place == table[first].place]
