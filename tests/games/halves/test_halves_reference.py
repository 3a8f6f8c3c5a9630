"""Halves against a slow second opinion, and what holds in any position.

Halves: every sentence of a refusal, of moves and of notation.

The evaluation of Halves: shares that add up, and the same for players who change places.
"""

import random

import pytest

from domain.games.halves.engine import evaluate
from domain.games.halves.position import Ending, HalvesPosition
from domain.games.halves.rules import HalvesRules
from tests.games import playing
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    WANING,
    A,
    legal,
    options,
    parsed,
    play,
    position,
    random_flags,
    random_game,
    refused,
    row,
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


# --- properties


FORM = (
    "a move is a number, such as 3, or two, such as 4,2 (remove 4, keep the group of 2), "
    "or keep or swap"
)


# --- refusals


@pytest.mark.parametrize(
    ("at", "text", "sentence"),
    [
        (start("-manual_start"), "6", "6: there is no cell 6; they are numbered 1 to 5"),
        (start("-manual_start"), "1,2",
         "1,2: while tiles are being placed, a move is the number of a cell; groups come later"),
        (start("-manual_start"), "keep", "keep: keep and swap are only for choosing colours, and that isn't due now"),
        (start(), "3", "3: A must first choose a colour: keep or swap"),
        (position(WANING, A), "swap", "swap: keep and swap are only for choosing colours, and that isn't due now"),
        (position(WANING, A), "6", "6: there is no tile 6; they are numbered 1 to 5"),
        (position(WANING, A), "3", "3: tile 3 is B's, and it is A's turn"),
        (play(position(WANING, A), "2"), "4", "4: tile 4 is already gone"),
        (row("bbwbb"), "3",
         "3: you choose which group survives, {1 2} or {4 5}; name a tile of it, such as 3,1"),
        (row("bbwbb"), "3,3", "3,3: tile 3 is the one removed; name one of the group that is kept"),
        (row("bbwbb"), "3,6", "3,6: there is no tile 6; they are numbered 1 to 5"),
        (play(position(WANING, A), "2"), "3,2", "3,2: tile 2 is already gone"),
        (row("bbwb"), "3,4",
         "3,4: the group of tile 4 does not survive; {1 2} does, with the most tiles"),
        (row("bbwwb", flags=["-keep_most_friendly"]), "3,1",
         "3,1: the group of tile 1 does not survive; {4 5} does, with the most of your tiles"),
        (row("wbwbw", flags=["-free_edges=5"]), "3",
         "3: tile 3 has 4 free edges, and needs 5 to be removed (-free_edges)"),
        (row("bbbbbbwbbbbbb"), "7",
         ("7: you choose which group survives, {1 2 3 4 5 ...} or {8 9 10 11 12 ...}; "
          "name a tile of it, such as 7,1")),
        (play(row("wb"), "1"), "2", "2: the match is over: A has no tile left"),
    ],
)  # fmt: skip
def test_an_illegal_move_is_refused_by_the_rule_it_breaks(at, text, sentence):
    assert refused(at, text) == sentence


def test_where_several_groups_may_survive_a_smaller_one_may_not():
    tiles = ["w 0,0", "b 0,-1", "b 0,-2", "b 1,0", "b 2,0", "b -1,1"]
    at = position(tiles, A)
    texts = legal(at)
    assert texts == ["3,1", "3,5"]
    assert refused(at, "3,4") == (
        "3,4: the group of tile 4 does not survive; {1 2} or {5 6} may, such as 3,1"
    )


# --- notation


@pytest.mark.parametrize(
    "text",
    ["", "0", "03", "3,", ",3", "3,0", "3,04", "4,2,1", "4;2", "4:2", "-3", "keep,3", "resign",
     "12345", "\u0663", "\u212aeep", "a1", "9" * 9000],
)  # fmt: skip
def test_what_is_no_notation_is_refused_with_the_form(text):
    assert playing.unreadable(RULES, text) == f"{text[:24]!r} isn't a move; {FORM}"


HALVES = HalvesRules()


def played(players: int, flags: str, plies: int, seed: int) -> HalvesPosition:
    """Return a position after random moves."""
    rng = random.Random(seed)
    options = HALVES.read_options(flags.split())
    setup = HALVES.draw(options, players, RandomChance(rng))
    at = HALVES.start(options, players, setup)
    for _ in range(plies):
        if HALVES.to_move(at) is not None:
            at = HALVES.play(at, rng.choice(HALVES.moves(at)))
    return at


@pytest.mark.parametrize("flags", ["", "-invert_win", "-manual_start"])
@pytest.mark.parametrize("players", [2, 3])
def test_shares_add_up_to_one(players: int, flags: str) -> None:
    for seed in range(30):
        at = played(players, flags, seed % 9, seed)
        if HALVES.to_move(at) is not None:
            shares = evaluate(at)
            assert len(shares) == players
            assert sum(shares) == pytest.approx(1)
            assert all(0 <= share <= 1 for share in shares)


def test_a_seat_that_has_left_has_no_share() -> None:
    at = HALVES.remove_seat(played(3, "", 4, 3), 1)
    assert evaluate(at)[1] == 0
