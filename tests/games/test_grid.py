"""The board of squares that games share."""

import pytest

from domain.boards.grid import SquareGrid, paint_grid, stone_on
from domain.game.painter import BoardInput
from domain.game.protocol import UnreadableMove

GRID = SquareGrid(4, 3)


def names(places) -> set[str]:
    return {GRID.names[place] for place in places}


def test_what_lies_around_a_place_ends_at_the_edge():
    assert names(GRID.beside[GRID.index["a1"]]) == {"b1", "a2"}
    assert names(GRID.around[GRID.index["b2"]]) == {"a1", "b1", "c1", "a2", "c2", "a3", "b3", "c3"}
    rays = [[GRID.names[at] for at in ray] for ray in GRID.rays[GRID.index["b2"]]]
    assert rays == [["b1"], ["c2", "d2"], ["b3"], ["a2"], ["c1"], ["c3"], ["a3"], ["a1"]]


@pytest.mark.parametrize(
    ("text", "count", "found"),
    [
        ("c2", 1, ("c2",)),
        (" A 1\n- d3", 2, ("a1", "d3")),
        ("a1", 2, None),
        ("a1-b2", 1, None),
        ("a1-", 2, None),
        ("e1", 1, None),
        ("a4", 1, None),
        ("a01", 1, None),
        ("a\u0661", 1, None),
        ("", 1, None),
    ],
)
def test_a_move_is_read_as_so_many_places_or_is_refused_with_its_form(text, count, found):
    if found:
        assert tuple(GRID.names[at] for at in GRID.read(text, "write it so", count)) == found
        return
    with pytest.raises(UnreadableMove) as refusal:
        GRID.read(text, "write it so", count)
    assert refusal.value.sentence == f"{text!r} isn't a move; write it so"


def test_a_turned_board_has_its_first_row_below():
    kinds = {"x": stone_on(GRID, "dark", 0, "Black")}
    for turned in (False, True):
        view = BoardInput({"board": {"a1": "x"}}, last="a1", turned=turned)
        picture = paint_grid(GRID, view, kinds, ())
        (place,) = [part for part in picture.body if 'data-place="a1"' in part]
        assert "piece dark stone" in place
        assert "ring" in place
        assert picture.sentences == ("Black: a1.",)
        x, y = map(float, place.partition("translate(")[2].partition(")")[0].split())
        assert (x > 256, y > picture.height / 2) == (turned, turned)
