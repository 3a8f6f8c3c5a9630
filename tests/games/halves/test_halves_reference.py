"""Halves against a slow second opinion, and what holds in any position."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.games.halves.position import Ending, KeepRule, TouchRule
from domain.rules import pack_position, unpack_position
from domain.rules.protocol import IllegalMove
from tests.games import playing
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    WANING,
    A,
    legal,
    numbers,
    options,
    parsed,
    play,
    position,
    positions,
    random_flags,
    random_game,
    refused,
    start,
)
from tests.golden.make_games import RandomChance

# --- against the slow reference


@pytest.mark.parametrize("part", range(8))
def test_random_games_under_random_options_agree_with_the_reference(part):
    for seed in range(part * 45, part * 45 + 45):
        rng = random.Random(f"reference {seed}")
        flags, players = random_flags(rng), rng.choice((2, 3))
        at, game = start(*flags, players=players, seed=seed), reference.Game(players, parsed(flags))
        if "-manual_start" not in flags:
            setup = RULES.draw(options(*flags), players, RandomChance(random.Random(seed)))
            for q, r, _ in setup["tiles"][players:]:
                game.place((q, r))
        while True:
            agree(at, game)
            if RULES.outcome(at) is not None:
                break
            if players == 3 and not game.out and rng.random() < 0.05:
                seat = rng.randrange(3)
                at = RULES.remove_seat(at, seat)
                game.leave(seat)
            else:
                text = rng.choice(legal(at))
                at = play(at, text)
                game.play(text)


def agree(at, game):
    shown = RULES.to_json(at)
    assert {key: shown[key] for key in ("phase", "colours", "tiles")} == game.shown()
    assert RULES.to_move(at) == game.turn
    texts = legal(at)
    assert sorted(texts) == sorted(game.legal())
    assert len(texts) == RULES.count_moves(at) == len(RULES.moves(at))
    outcome = RULES.outcome(at)
    found = None if outcome is None else (str(outcome.reason), list(outcome.winners))
    assert found == game.result()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_two_thousand_random_option_sets_start_and_play_to_an_end(part):
    for seed in range(part * 500, part * 500 + 500):
        _, _, game = random_game(f"options {seed}")
        assert RULES.outcome(game[-1]).reason in set(Ending)


def test_the_largest_matches_start_and_come_to_an_end():
    at = start("-tiles_each=60", players=3)
    rng = random.Random(0)
    while RULES.outcome(at) is None:
        at = RULES.play(at, rng.choice(RULES.moves(at)))
        shown = json.loads(json.dumps(RULES.to_json(at)))
        assert RULES.from_json(shown, options("-tiles_each=60"), RULES.to_move(at)) == at
        assert unpack_position("halves/1", pack_position(at)) == at
        assert len(pack_position(at)) < 1000
    assert RULES.outcome(at).winners


# --- properties


@given(positions(), st.data())
def test_legal_moves_are_accepted_as_they_are_and_nothing_else_is(drawn, data):
    _, at = drawn
    texts = set(legal(at))
    if texts:
        playing.accepts_a_legal_move(RULES, at, data)
    words = st.sampled_from(["keep", "swap"])
    number = st.integers(1, 26)
    pair = st.builds(lambda one, other: f"{one},{other}", number, number)
    text = data.draw(st.one_of(words, number.map(str), pair))
    try:
        meant = RULES.write(RULES.check(at, RULES.read(text)))
    except IllegalMove:
        assert refused(at, text).startswith(f"{text}: ")
        assert text not in texts
    else:
        assert meant in texts
        assert meant.partition(",")[0] == text.partition(",")[0]


def test_moves_come_sorted_by_number_and_group():
    for seed in range(60):
        _, _, game = random_game(seed)
        for at in game:
            texts = legal(at)
            if texts != ["keep", "swap"]:
                keys = [list(map(int, text.split(","))) for text in texts]
                assert keys == sorted(keys)


def mirrored(shown):
    """Return a position of the last phase with left and right exchanged, and the new numbers."""
    cells = {tuple(t[:2]): t for t in [*shown["tiles"], *shown.get("gone", [])]}
    flipped = {(-q, r + q): tile for (q, r), tile in cells.items()}
    new = {flipped[at][-1]: n for n, at in enumerate(reference.reading(flipped), 1)}
    after = {key: shown[key] for key in ("phase", "colours", "out") if key in shown}
    for key in ("tiles", "gone"):
        listed = [[-t[0], t[1] + t[0], *t[2:-1], new[t[-1]]] for t in shown.get(key, [])]
        after[key] = sorted(listed, key=lambda t: t[-1])
    return after, new


@given(positions())
def test_a_mirrored_position_has_the_mirrored_moves(drawn):
    flags, at = drawn
    shown = RULES.to_json(at)
    if shown["phase"] != "wane":
        return
    after, new = mirrored(shown)
    other = RULES.from_json(after, options(*flags), at.turn)
    expected = set()
    for text in legal(at):
        first, comma, kept = text.partition(",")
        move = f"{new[int(first)]}" + (f",{new[int(kept)]}" if comma else "")
        expected.add(RULES.write(RULES.check(other, RULES.read(move))))
    assert set(legal(other)) == expected
    assert RULES.outcome(other) == RULES.outcome(at)


@given(positions())
def test_positions_pass_through_json_and_messagepack_unchanged(drawn):
    flags, at = drawn
    most = 60 + 4 * len(at.cells)
    playing.passes_unchanged("halves/1", at, options(*flags), RULES.to_move(at), most)


def test_keys_and_tiles_of_the_json_form_come_in_the_games_own_order():
    shown = RULES.to_json(RULES.remove_seat(play(position(WANING, A), "2"), A))
    assert list(shown) == ["phase", "colours", "tiles", "gone", "out"]
    assert shown["gone"] == [[1, 1, 2], [0, 2, 4]]
    assert numbers(play(position(WANING, A), "2")) == [1, 3, 5]


WAX = {"phase": "wax", "colours": [0, 1], "tiles": [[0, 0, 0, None], [0, 1, 1, None]]}


PAIR = {"phase": "wane", "colours": [0, 1], "tiles": [[0, 0, 0, 1], [0, 1, 1, 2]]}


@pytest.mark.parametrize(
    ("data", "flags", "to_move", "problem"),
    [
        (None, (), 0, "Expected `object`, got `null`"),
        ({"phase": "wane"}, (), 0, "missing required field `colours`"),
        (PAIR | {"phase": "moon"}, (), 0, "Invalid enum value 'moon'"),
        (PAIR | {"more": 1}, (), 0, "unknown field `more`"),
        (PAIR | {"colours": [0]}, (), 0, "the colours can't be [0]"),
        (PAIR | {"colours": [0, 0]}, (), 0, "the colours can't be [0, 0]"),
        (PAIR | {"colours": [1, 0]}, ("-no_contract",), 0, "the colours can't be [1, 0]"),
        (PAIR | {"colours": [0, 1, 2, 3]}, (), 0, "the colours can't be [0, 1, 2, 3]"),
        (PAIR | {"colours": [2, 1, 0]}, (), 0, "the colours can't be [2, 1, 0]"),
        (WAX | {"colours": [1, 0]}, ("-manual_start",), 0, "the colours can't be [1, 0]"),
        (PAIR | {"out": [0]}, (), 1, "the seats that are out can't be [0] while a match goes on"),
        (PAIR | {"colours": [0, 1, 2], "out": [0, 1]}, (), 0, "the seats that are out can't be [0, 1]"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 0, 1, 2]]}, (), 0, "a cell is named twice"),
        (PAIR | {"gone": [[0, 0, 3]]}, (), 0, "a cell is named twice"),
        (PAIR | {"gone": [[0, -1, 3]]}, (), 0, "the tile at (0,-1) has number 1"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 1, 1, 3]]}, (), 0, "the tile at (0,1) has number 2"),
        (WAX | {"tiles": PAIR["tiles"]}, ("-manual_start",), 0, "the tile at (0,0) has no number"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 1, 2, 2]]}, (), 0, "no colour 2 among 2 players"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 2, 1, 2]]}, (), 0, "the tiles are not all connected"),
        (PAIR | {"tiles": []}, (), 0, "the tiles are not all connected"),
        (PAIR | {"tiles": [[0, 0, 0, 1], [0, 2000, 1, 2]]}, (), 0, "as far as (0,2000)"),
        (PAIR | {"tiles": [[0, r, 0, r + 1] for r in range(3)]}, ("-tiles_each=2",), 0,
         "no colour has more than 2 tiles"),
        (PAIR | {"gone": [[0, r, r + 1] for r in range(2, 5)]}, ("-tiles_each=2",), 0,
         "there are at most 2 tiles for each"),
        (PAIR, (), 2, "it can't be the turn of seat 2"),
        (PAIR, (), None, "it can't be the turn of seat None"),
        (PAIR | {"phase": "contract"}, (), 0, "no contract is due"),
        (PAIR | {"phase": "contract"}, ("-no_contract",), 0, "no contract is due"),
        (WAX, (), 0, "the players place tiles with -manual_start only"),
        (WAX, ("-manual_start",), 1, "not from turns taken one after the other"),
        (WAX, ("-manual_start",), 2, "it can't be the turn of seat 2"),
        (WAX | {"cells": []}, ("-manual_start",), 0, "the free cells are others"),
        (WAX | {"colours": [0, 1, 2]}, ("-manual_start",), 0, "not from turns taken"),
        (WAX | {"tiles": [[0, r, r % 2, None] for r in range(4)]},
         ("-manual_start", "-tiles_each=2"), 0, "all tiles are placed"),
    ],
)  # fmt: skip
def test_what_is_no_position_is_refused(data, flags, to_move, problem):
    sentence = playing.bad_setup(RULES.from_json, data, options(*flags), to_move)
    assert sentence.startswith("this does not fit halves: ")
    assert problem in sentence


def test_flags_that_name_a_default_are_the_defaults():
    assert options().touch is TouchRule.ENEMY
    assert options().keep is KeepRule.LARGEST
