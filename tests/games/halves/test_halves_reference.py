"""Halves against a slow second opinion, and what holds in any position."""

import random

import pytest
from hypothesis import given

from domain.games.halves.position import Ending
from domain.rules import pack_position, unpack_position
from tests.games.halves import reference
from tests.games.halves.given import (
    RULES,
    WANING,
    A,
    legal,
    numbers,
    of_json,
    options,
    parsed,
    play,
    position,
    positions,
    random_flags,
    random_game,
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
        assert unpack_position("halves/1", pack_position(at)) == at
        assert len(pack_position(at)) < 1000
    assert RULES.outcome(at).winners


# --- properties


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
    other = of_json(after, at.turn, *flags)
    expected = set()
    for text in legal(at):
        first, comma, kept = text.partition(",")
        move = f"{new[int(first)]}" + (f",{new[int(kept)]}" if comma else "")
        expected.add(RULES.write(RULES.check(other, RULES.read(move))))
    assert set(legal(other)) == expected
    assert RULES.outcome(other) == RULES.outcome(at)


def test_keys_and_tiles_of_the_json_form_come_in_the_games_own_order():
    shown = RULES.to_json(RULES.remove_seat(play(position(WANING, A), "2"), A))
    assert list(shown) == ["phase", "colours", "tiles", "gone", "out"]
    assert shown["gone"] == [[1, 1, 2], [0, 2, 4]]
    assert numbers(play(position(WANING, A), "2")) == [1, 3, 5]
