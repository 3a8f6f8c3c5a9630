"""The evaluation of Halves: shares that add up, and the same for players who change places."""

import random

import pytest
from msgspec.structs import replace

from domain.games.halves.engine import evaluate
from domain.games.halves.position import HalvesPosition
from domain.games.halves.rules import HalvesRules
from tests.golden.make_games import RandomChance

RULES = HalvesRules()


def played(players: int, flags: str, plies: int, seed: int) -> HalvesPosition:
    """Return a position after random moves."""
    rng = random.Random(seed)
    options = RULES.read_options(flags.split())
    setup = RULES.draw(options, players, RandomChance(rng))
    at = RULES.start(options, players, setup)
    for _ in range(plies):
        if RULES.to_move(at) is not None:
            at = RULES.play(at, rng.choice(RULES.moves(at)))
    return at


@pytest.mark.parametrize("flags", ["", "-invert_win", "-manual_start"])
@pytest.mark.parametrize("players", [2, 3])
def test_shares_add_up_to_one(players: int, flags: str) -> None:
    for seed in range(30):
        at = played(players, flags, seed % 9, seed)
        if RULES.to_move(at) is not None:
            shares = evaluate(at)
            assert len(shares) == players
            assert sum(shares) == pytest.approx(1)
            assert all(0 <= share <= 1 for share in shares)


def test_fewer_tiles_are_better_and_worse_when_inverted() -> None:
    at = played(2, "-no_contract", 0, 1)
    first = at.tiles[0] & -at.tiles[0]
    one_less = [(at.tiles[0] ^ first).to_bytes(len(at.tiles_packed[0]), "little")]
    fewer = replace(at, tiles_packed=(*one_less, at.tiles_packed[1]))
    assert evaluate(fewer)[0] > evaluate(at)[0]
    inverted = replace(at.options, invert_win=True)
    before, after = (evaluate(replace(one, options=inverted))[0] for one in (at, fewer))
    assert after < before


def test_swapped_colours_swap_the_shares() -> None:
    at = played(2, "", 0, 2)
    swapped = replace(at, colours=(1, 0), turn=1 - at.turn)
    assert evaluate(swapped) == pytest.approx(evaluate(at)[::-1])


def test_a_seat_that_has_left_has_no_share() -> None:
    at = RULES.remove_seat(played(3, "", 4, 3), 1)
    assert evaluate(at)[1] == 0
