"""Halves: the source's example, every option, sentence and picture, and a slow second opinion."""

import random
import re
from itertools import pairwise, zip_longest
from pathlib import Path

import pytest

from domain.boards import hexes
from domain.errors import Code, Refusal
from domain.games.halves.drawing import draw_tiles
from domain.games.halves.engine import evaluate
from domain.games.halves.position import (
    Ending,
    HalvesOptions,
    HalvesPhase,
    HalvesPosition,
    KeepRule,
    TouchRule,
    pack_tiles,
)  # fmt: skip
from tests.games import playing
from tests.games.halves import reference
from tests.games.svg_pictures import SVG, recorded, with_class
from tests.games.svg_pictures import parsed as parsed_svg
from tests.golden.make_games import RandomChance, replay
from tests.helpers.examples import FULL

GAME = playing.Game("halves")
RULES, played, legal = GAME.rules, GAME.played, GAME.legal
A, B = 0, 1


def options(*flags):
    return RULES.read_options(flags)


def start(*flags, players=2, seed=0):
    chosen = options(*flags)
    setup = RULES.draw(chosen, players, RandomChance(random.Random(seed)))
    return RULES.start(chosen, players, setup)


def position(tiles, turn, *flags):
    """Return a position from texts such as `w 0,2`, in which tiles are taken away; they are numbered in reading order."""
    cells = {}
    for text in tiles:
        letter, at = text.split()
        cells[tuple(map(int, at.split(",")))] = "wbd".index(letter)
    there = tuple(sorted(hexes.cell(*at) for at in cells))
    tiles = [
        sum(1 << there.index(hexes.cell(*at)) for at in cells if cells[at] == one) for one in (0, 1)
    ]
    packed = pack_tiles(tiles, len(there))
    return HalvesPosition(options(*flags), HalvesPhase.SHRINK, there, packed, (0, 1), turn, 0)


def row(letters, *flags):
    """Return a column of tiles, from above, numbered from 1: every tile between two others parts."""
    return position([f"{letter} 0,{r}" for r, letter in enumerate(letters)], A, *flags)


def random_flags(rng):
    """Return random options; small sets of tiles are likelier."""
    flags = [f"-tiles_each={rng.choice([2, 3, 4, 5, 6, 8, 12])}"]
    some = ["-manual_start", "-no_contract", "-invert_win", "-must_touch=2", "-touch_any"]
    flags += [flag for flag in some if rng.random() < 0.4]
    if rng.random() < 0.5:
        flags.append(f"-free_edges={rng.randint(1, 6)}")
    flags.append(f"-{rng.choice(list(KeepRule))}")
    return RULES.write_options(options(*flags))


def random_game(seed):
    """Return options, players and the positions of a game played at random, to its end."""
    rng = random.Random(seed)
    flags, players = random_flags(rng), rng.choice((2, 3))
    game = [start(*flags, players=players, seed=seed)]
    while RULES.outcome(game[-1]) is None:
        at = game[-1]
        if players == 3 and not at.out and rng.random() < 0.05:
            game.append(RULES.remove_seat(at, rng.randrange(3)))
        else:
            game.append(RULES.play(at, rng.choice(RULES.moves(at))))
    return flags, players, game


def parsed_flags(flags):
    """Return the reference's options from flags."""
    how = {}
    for flag in flags:
        name, equals, number = flag.removeprefix("-").partition("=")
        how[name] = int(number) if equals else True
    return how


WANING = position(["w 0,2", "w 1,1", "w 2,0", "b 2,1", "b 3,0"], A)
"""The example of the source."""
NOT_DUE = "keep and swap are only for choosing colours, and that isn't due now"


class TestHalves(playing.GameTests):
    key = "halves"
    wrong_players = 4, "is played by two or three, not by 4"
    options = (("-manual_start", "-manual_start"),)
    illegal = (
        (start("-manual_start"), "6", "there is no cell 6; they are numbered 1 to 5"),
        (start("-manual_start"), "1,2",
         "while tiles are being placed, a move is the number of a cell; groups come later"),
        (start("-manual_start"), "keep", NOT_DUE),
        (start(), "3", "A must first choose a colour: keep or swap"),
        (WANING, "swap", NOT_DUE),
        (WANING, "6", "there is no tile 6; they are numbered 1 to 5"),
        (WANING, "3", "tile 3 is B's, and it is A's turn"),
        (played("2", at=WANING), "4", "tile 4 is already gone"),
        (row("bbwbb"), "3",
         "you choose which group survives, {1 2} or {4 5}; name a tile of it, such as 3,1"),
        (row("bbwbb"), "3,3", "tile 3 is the one removed; name one of the group that is kept"),
        (row("bbwbb"), "3,6", "there is no tile 6; they are numbered 1 to 5"),
        (played("2", at=WANING), "3,2", "tile 2 is already gone"),
        (row("bbwb"), "3,4",
         "the group of tile 4 does not survive; {1 2} does, with the most tiles"),
        (row("bbwwb", "-keep_most_friendly"), "3,1",
         "the group of tile 1 does not survive; {4 5} does, with the most of your tiles"),
        (row("wbwbw", "-free_edges=5"), "3",
         "tile 3 has 4 free edges, and needs 5 to be removed (-free_edges)"),
        (row("bbbbbbwbbbbbb"), "7",
         ("you choose which group survives, {1 2 3 4 5 ...} or {8 9 10 11 12 ...}; "
          "name a tile of it, such as 7,1")),
        (played("1", at=row("wb")), "2", "the match is over: A has no tile left"),
        (position(["w 0,0", "b 0,-1", "b 0,-2", "b 1,0", "b 2,0", "b -1,1"], A), "3,4",
         "the group of tile 4 does not survive; {1 2} or {5 6} may, such as 3,1"),
    )  # fmt: skip
    unreadable = (
        "", "0", "03", "3,", ",3", "3,0", "3,04", "4,2,1", "4;2", "4:2", "-3", "keep,3", "resign",
        "12345", "\u0663", "\u212aeep", "a1", "9" * 9000,
    )  # fmt: skip
    form = (
        "a move is a number, such as 3, or two, such as 4,2 (remove 4, keep the group of 2), "
        "or keep or swap"
    )
    shown = tuple(
        (at, "numbered") for at in (WANING, played("2", at=WANING), start("-manual_start"))
    )

    def test_one_is_too_few(self):
        said = playing.refusal(Code.BAD_PLAYERS, RULES.start, options("-manual_start"), 1, None)
        assert said == "halves is played by two or three, not by 1"


def test_white_removing_the_bridging_tile_wins_with_the_next_move():
    assert legal(WANING) == ["1", "2", "4"]
    after = played("2", at=WANING)
    assert [number for *_, number in RULES.to_json(after)["tiles"]] == [1, 3, 5]
    assert RULES.to_move(after) == B
    assert legal(after) == ["3", "5"]
    for reply in legal(after):
        won = RULES.outcome(played(f"{reply} 1", at=after))
        assert (won.winners, won.detail) == ((A,), "A has no tile left")


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


# --- what chance draws


@pytest.mark.parametrize("flags", [(), ("-touch_any",), ("-must_touch=2",), ("-tiles_each=60",)])
@pytest.mark.parametrize("players", [2, 3])
def test_what_is_drawn_follows_the_rules_of_placing(flags, players):
    how = parsed_flags(flags)
    game = reference.Game(players, how)
    setup = RULES.draw(options(*flags), players, RandomChance(random.Random(players)))
    for q, r, colour in setup["tiles"][players:]:
        assert colour == game.turn
        assert (q, r) in game.cells()
        game.place((q, r))
    assert game.phase == "contract"
    at = RULES.start(options(*flags), players, setup)
    assert RULES.to_json(at) == game.shown()


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
    assert RULES.draw(chosen, 2, RandomChance(random.Random(1))) is None
    assert RULES.needs_draw(options(), 2)
    with pytest.raises(Refusal, match="with -manual_start chance draws no setup") as refusal:
        RULES.start(chosen, 2, {"tiles": []})
    assert refusal.value.code is Code.BAD_SETUP


# --- against the slow reference


def test_random_games_under_random_options_agree_with_the_reference():
    for seed in range(90):
        rng = random.Random(f"reference {seed}")
        flags, players = random_flags(rng), rng.choice((2, 3))
        at, game = (
            start(*flags, players=players, seed=seed),
            reference.Game(players, parsed_flags(flags)),
        )
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
                at = played(text, at=at)
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


def test_random_option_sets_start_and_play_to_an_end():
    for seed in range(2_000 if FULL else 200):
        _, _, game = random_game(f"options {seed}")
        assert RULES.outcome(game[-1]).reason in set(Ending)


@pytest.mark.parametrize("flags", ["", "-invert_win", "-manual_start"])
@pytest.mark.parametrize("players", [2, 3])
def test_shares_add_up_to_one_and_who_has_left_has_none(players, flags):
    for seed in range(10):
        first = start(*flags.split(), players=players, seed=seed)
        for at, _ in playing.random_game(RULES, first, random.Random(seed), seed):
            if RULES.outcome(at) is None:
                shares = evaluate(at)
                assert len(shares) == players
                assert sum(shares) == pytest.approx(1)
                assert all(0 <= share <= 1 for share in shares)
    if players == 3:
        assert evaluate(RULES.remove_seat(first, 1))[1] == 0


# --- drawings


# by number, in the example of the source
EXAMPLE = {1: (2, 0, 0), 2: (1, 1, 0), 3: (3, 0, 1), 4: (0, 2, 0), 5: (2, 1, 1)}
FRAME = [(q, r) for q, r, _ in EXAMPLE.values()]


def picture(name):
    return (Path(__file__).parent / f"{name}.txt").read_text().removesuffix("\n")


def tiles(*numbers):
    return [(*EXAMPLE[number], None) for number in numbers]


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("start-two", draw_tiles([(0, 0, 0, None), (0, 1, 1, None)], [(0, 0)])),
        ("start-three",
         draw_tiles([(0, 0, 0, None), (0, 1, 1, None), (1, 0, 2, None)], [(0, 0)])),
        ("waning-1", draw_tiles(tiles(1, 2, 3, 4, 5), FRAME)),
        ("waning-2", draw_tiles(tiles(1, 3, 4, 5), FRAME)),
        ("waning-3", draw_tiles(tiles(1, 3, 5), FRAME)),
    ],
)  # fmt: skip
def test_every_picture_of_the_source_is_drawn_as_there(name, drawn):
    assert drawn == picture(name)


def test_every_option_display_and_picture_is_on_the_pages_and_their_moves_are_canonical():
    numbers = {"tiles_each": "=N", "free_edges": "=N", "must_touch": "=2"}
    fields = set(HalvesOptions.__struct_fields__) - {"touch", "keep"}
    two, three = picture("start-two").split("\n"), picture("start-three").split("\n")
    both = (f"{one:21}{other}".rstrip() for one, other in zip_longest(two, three, fillvalue=""))
    beside = "\n".join(both)
    for page in playing.help_pages("halves"):
        for flag in (*fields, *TouchRule, *KeepRule):
            assert re.search(rf"^  -{flag}{numbers.get(flag, '')}  ", page, re.MULTILINE)
        assert f"--display={RULES.displays[1]}" in page
        assert beside in page
        moves = re.findall(r"^  (\d+(?:,\d+)?|keep|swap)  ", page, re.MULTILINE)
        assert moves == ["3", "4,2", "keep", "swap"]
        assert [RULES.write(RULES.read(text)) for text in moves] == moves


def svg_tiles(tree):
    return {
        tuple(map(int, each.get("data-cell").split(","))): each
        for each in tree.iter(f"{SVG}g")
        if each.get("data-cell")
    }


@pytest.mark.parametrize("family", ["2", "2 -manual_start"])
def test_tiles_and_free_cells_are_places_by_their_numbers(family):
    for at in replay(recorded("halves", family)):
        shown, tree = RULES.to_json(at), parsed_svg("halves", at)
        cells = {(q, r): str(number) for q, r, number in shown.get("cells", ())}
        named = {(q, r): str(number) for q, r, _, number in shown["tiles"] if number}
        drawn = svg_tiles(tree)
        found = {cell: each.get("data-place") for cell, each in drawn.items()}
        assert {cell: name for cell, name in found.items() if name} == cells | named
        for cell in cells | named:
            assert with_class(drawn[cell], "number")[0].text == found[cell]
            assert len(with_class(drawn[cell], "hit")) == 1
            assert ("free" in drawn[cell].get("class").split()) == (cell in cells)


def test_the_tile_taken_last_leaves_a_mark_and_what_fell_off_too_if_before_is_known():
    game = recorded("halves")
    moves, played = game["moves"].split(), list(replay(game))
    fallen = 0
    for last, (before, at) in zip(moves, pairwise(played), strict=True):
        there = [
            {(q, r): number for q, r, _, number in RULES.to_json(each)["tiles"]}
            for each in (before, at)
        ]
        gone = set(there[0]) - set(there[1])
        taken = {cell for cell in gone if str(there[0][cell]) == last.partition(",")[0]}
        for expected, more in ((taken, {}), (gone, {"before": before})):
            drawn = svg_tiles(parsed_svg("halves", at, last=last, **more))
            assert {cell for cell, each in drawn.items() if with_class(each, "ring")} == expected
        fallen += len(gone) - len(taken)
    assert fallen > 0
