"""Halves as its tests play it, and the example of its source."""

import random
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from domain.boards.hexes import cell
from domain.games.halves.position import (
    OVER,
    HalvesPhase,
    HalvesPosition,
    KeepRule,
    advance_turn,
    pack_tiles,
)
from domain.rules import latest_rules
from tests.games import playing
from tests.games.halves import reference
from tests.golden.make_games import RandomChance

RULES = latest_rules("halves")
A, B, C = 0, 1, 2
PHASES = {"wax": HalvesPhase.GROW, "contract": HalvesPhase.CONTRACT, "wane": HalvesPhase.SHRINK}

play = partial(playing.play, RULES)
legal = partial(playing.legal, RULES)
refused = partial(playing.refused, RULES)


def options(*flags):
    return RULES.read_options(flags)


def start(*flags, players=2, seed=0):
    chosen = options(*flags)
    setup = RULES.draw(chosen, players, RandomChance(random.Random(seed)))
    return RULES.start(chosen, players, setup)


def position(tiles, turn, *flags, colours=(0, 1), phase="wane", **more):
    """Return a position from texts such as `w 0,2`; tiles are numbered in reading order."""
    cells = {}
    for text in tiles:
        letter, at = text.split()
        cells[tuple(map(int, at.split(",")))] = "wbd".index(letter)
    ordered = enumerate(reference.reading(cells), 1)
    listed = [[*at, cells[at], None if phase == "wax" else n] for n, at in ordered]
    data = {"phase": phase, "colours": list(colours), "tiles": listed, **more}
    return of_json(data, turn, *flags)


def of_json(form, turn, *flags):
    """Return the position of a JSON form; it is over if its last phase says so."""
    there = {cell(q, r): colour for q, r, colour, _ in form["tiles"]}
    cells = tuple(sorted([*there, *(cell(q, r) for q, r, _ in form.get("gone", []))]))
    tiles = [
        sum(1 << number for number, at in enumerate(cells) if there.get(at) == colour)
        for colour in range(len(form["colours"]))
    ]
    at = HalvesPosition(
        options(*flags),
        PHASES[form["phase"]],
        cells,
        pack_tiles(tiles, len(cells)),
        tuple(form["colours"]),
        turn,
        sum(1 << seat for seat in form.get("out", [])),
    )
    if at.phase is HalvesPhase.SHRINK and advance_turn(replace(at, turn=0)).turn == OVER:
        return replace(at, turn=OVER)
    return at


WANING = ("w 0,2", "w 1,1", "w 2,0", "b 2,1", "b 3,0")


def row(letters, *, turn=A, flags=(), **more):
    """Return a column of tiles, from above, numbered from 1: every tile between two others parts."""
    tiles = [f"{letter} 0,{r}" for r, letter in enumerate(letters)]
    return position(tiles, turn, *flags, **more)


def numbers(at):
    return [number for *_, number in RULES.to_json(at)["tiles"]]


def random_flags(rng):
    """Return random options; small sets of tiles are likelier."""
    flags = [f"-tiles_each={rng.choice([2, 3, 4, 5, 6, 8, 12])}"]
    some = ["-manual_start", "-no_contract", "-invert_win", "-must_touch=2", "-touch_any"]
    flags += [flag for flag in some if rng.random() < 0.4]
    if rng.random() < 0.5:
        flags.append(f"-free_edges={rng.randint(1, 6)}")
    flags.append(f"-{rng.choice(list(KeepRule))}")
    return RULES.write_options(options(*flags))


def random_game(seed, *, leaving=True):
    """Return options, players and the positions of a game played at random, to its end."""
    rng = random.Random(seed)
    flags, players = random_flags(rng), rng.choice((2, 3))
    game = [start(*flags, players=players, seed=seed)]
    while RULES.outcome(game[-1]) is None:
        at = game[-1]
        if leaving and players == 3 and not at.out and rng.random() < 0.05:
            game.append(RULES.remove_seat(at, rng.randrange(3)))
        else:
            game.append(RULES.play(at, rng.choice(RULES.moves(at))))
    return flags, players, game


@st.composite
def positions(draw):
    """Positions that come about by random play under any options, the last ones too."""
    flags, _, game = random_game(draw(st.integers(0, 400)))
    return flags, draw(st.sampled_from(game))


def ending(at):
    outcome = playing.over(RULES, at)
    return outcome.winners, str(outcome.reason), outcome.detail


def parsed(flags):
    """Return the reference's options from flags."""
    how = {}
    for flag in flags:
        name, equals, number = flag.removeprefix("-").partition("=")
        how[name] = int(number) if equals else True
    return how
