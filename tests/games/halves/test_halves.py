"""Halves: the source's example, every option, the contract and every ending.

Halves: tiles that chance or the players place.

Halves: what is removed and which group survives, also when one of three leaves.
"""

import random

import pytest

from domain.errors import Code, Refusal
from domain.games.halves.engine import evaluate
from domain.games.halves.position import Ending, HalvesPosition
from domain.games.halves.rules import HalvesRules
from tests.games import playing
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    WANING,
    A,
    B,
    legal,
    numbers,
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

# --- the example of the source


def test_white_removing_the_bridging_tile_wins_with_the_next_move():
    at = position(WANING, A)
    assert legal(at) == ["1", "2", "4"]
    after = play(at, "2")
    assert numbers(after) == [1, 3, 5]
    assert RULES.to_move(after) == B
    assert legal(after) == ["3", "5"]
    for reply in legal(after):
        won = play(after, reply, "1")
        assert RULES.outcome(won).winners == (A,)
        assert RULES.outcome(won).detail == "A has no tile left"


# --- options


@pytest.mark.parametrize(
    "flags",
    [("tiles_each=1",), ("tiles_each=61",), ("must_touch=0",), ("must_touch=3",),
     ("free_edges=7",), ("touch_any", "touch_enemy"), ("keep_chosen", "keep_largest"),
     ("keep_largest", "keep_most_friendly"), ("free_edges=1", "free_edges=2"), ("tiles_each",)],
)  # fmt: skip
def test_options_out_of_range_or_against_each_other_are_refused(flags):
    with pytest.raises(Refusal) as refusal:
        options(*flags)
    assert refusal.value.code is Code.BAD_OPTION


def test_the_challenge_says_that_nobody_may_be_able_to_remove_a_tile():
    assert RULES.option_warning(options("-free_edges=3")) == ""
    assert str(RULES.option_warning(options("-free_edges=4"))) == (
        "with -free_edges=4 it can happen that nobody can remove a tile; "
        "then the player with the fewest tiles wins"
    )
    assert str(RULES.option_warning(options("-free_edges=6", "-invert_win"))).endswith(
        "the player with the most tiles wins"
    )


# --- random placement


class Asked:
    """A chance that keeps what it was asked for, and gives the first or the last."""

    def __init__(self, *, last=False):
        self.asked = []
        self._last = last

    def below(self, purpose, n):
        self.asked.append((purpose, n))
        return n - 1 if self._last else 0


@pytest.mark.parametrize("flags", [(), ("-touch_any",), ("-must_touch=2",), ("-tiles_each=60",)])
@pytest.mark.parametrize("players", [2, 3])
def test_what_is_drawn_follows_the_rules_of_placing(flags, players):
    how = parsed(flags)
    game = reference.Game(players, how)
    setup = RULES.draw(options(*flags), players, RandomChance(random.Random(players)))
    for q, r, colour in setup["tiles"][players:]:
        assert colour == game.turn
        assert (q, r) in game.cells()
        game.place((q, r))
    assert game.phase == "contract"
    at = RULES.start(options(*flags), players, setup)
    assert RULES.to_json(at) == game.shown()


def test_halves_is_played_by_two_or_three():
    for players in (1, 4):
        with pytest.raises(Refusal, match="halves is played by two or three, not by") as refusal:
            RULES.start(options("-manual_start"), players, None)
        assert refusal.value.code is Code.BAD_PLAYERS


SETUP = [[0, 0, 0], [0, 1, 1], [1, 0, 0], [-1, 1, 1]]


@pytest.mark.parametrize(
    ("setup", "flags", "problem"),
    [
        (None, (), "Expected `object`, got `null`"),
        ({}, (), "missing required field `tiles`"),
        ({"tiles": SETUP, "more": 1}, (), "unknown field `more`"),
        ({"tiles": [*SETUP[:3], [1, 1]]}, (), "Expected `array` of length 3, got 2"),
        ({"tiles": [*SETUP[:3], [1, 1, "1"]]}, (), "Expected `int`, got `str`"),
        ({"tiles": SETUP[:3]}, (), "3 tiles are not 2 for each of 2"),
        ({"tiles": [*SETUP, [2, 0, 0]]}, (), "5 tiles are not 2 for each of 2"),
        ({"tiles": [SETUP[1], SETUP[0], *SETUP[2:]]}, (),
         "tile 1 is A's first and lies at (0,0)"),
        ({"tiles": [SETUP[0], [1, 0, 1], *SETUP[2:]]}, (),
         "tile 2 is B's first and lies at (0,1)"),
        ({"tiles": [*SETUP[:3], [-1, 1, 0]]}, (), "tile 4 has colour 0, and it is B's turn"),
        ({"tiles": [*SETUP[:3], [1, 0, 1]]}, (), "tile 4 can't be placed at (1,0)"),
        ({"tiles": [*SETUP[:3], [0, 2, 1]]}, (), "tile 4 can't be placed at (0,2)"),
        ({"tiles": [*SETUP[:3], [999, 2, 1]]}, (), "no tile gets as far as (999,2)"),
        ({"tiles": [*SETUP[:3], [0, -1, 1]]}, ("-must_touch=2",),
         "tile 4 can't be placed at (0,-1)"),
    ],
)  # fmt: skip
def test_a_setup_that_can_not_have_been_drawn_is_refused(setup, flags, problem):
    chosen = options("-tiles_each=2", *flags)
    sentence = playing.bad_setup(RULES.start, chosen, 2, setup)
    assert sentence.startswith("this does not fit halves: ")
    assert problem in sentence


def test_with_manual_start_chance_draws_nothing():
    chosen = options("-manual_start")
    assert not RULES.needs_draw(chosen, 2)
    assert RULES.draw(chosen, 2, Asked()) is None
    assert RULES.needs_draw(options(), 2)
    with pytest.raises(Refusal, match="with -manual_start chance draws no setup") as refusal:
        RULES.start(chosen, 2, {"tiles": []})
    assert refusal.value.code is Code.BAD_SETUP


# --- three players, one of whom leaves


def three(letters, *, turn=A, flags=(), **more):
    return row(letters, turn=turn, flags=flags, colours=(0, 1, 2), **more)


# --- halves against a slow second opinion, and what holds in any position


# --- against the slow reference


@pytest.mark.parametrize("part", range(3))
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
