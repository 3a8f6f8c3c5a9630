"""Powerdrain: the printed game, every sentence, what chance draws, drawings, and a slow second opinion."""

import random
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.errors import Code
from domain.games.powerdrain import evaluate
from domain.games.powerdrain.grid import PLUGS, SECTIONS, grid_bytes, remaining_volts
from domain.games.powerdrain.rules import PowerdrainPosition
from tests.games import playing
from tests.games.powerdrain import reference
from tests.games.svg_pictures import centre, parsed, places, recorded, wide, with_class
from tests.golden.make_games import RandomChance, read_games, replay

GAME = playing.Game("powerdrain")
RULES = GAME.rules
OPTION_SETS = [(), ("-o1",), ("-o2",), ("-p",), ("-o1", "-p"), ("-o2", "-p")]
COUNTING, MIXED = [1, 3, 5, 7, 9], [7, 9, 1, 3, 5]
HANDS = [list(PLUGS[::2]), list(PLUGS[1::2])]
SETUP = {"left": [9, 7, 1, 5, 3], "top": [1, 3, 7, 5, 9], "hands": HANDS}


def start(*flags, seed=0):
    options = RULES.read_options(flags)
    return RULES.start(options, 2, RULES.draw(options, 2, RandomChance(random.Random(seed))))


DEALT = RULES.start(RULES.read_options([]), 2, SETUP)

# the finished game of the source: plug, player, value and what is left of it, by section
PRINTED = {
    "91": ("46", "+10", "+10"), "93": ("26", "+10", "+6"), "97": ("42", "+10", "0"),
    "95": ("82", "-4", "0"), "99": ("22", "+14", "0"),
    "71": ("28", "+12", "+8"), "73": ("66", "-4", "0"), "77": ("44", "-6", "0"),
    "79": ("24", "-10", "0"),
    "11": ("88", "+14", "0"), "13": ("86", "-10", "0"), "17": ("62", "+10", "0"),
    "15": ("48", "+6", "+6"),
    "51": ("64", "-4", "0"), "31": ("68", "-10", "-10"), "37": ("84", "-8", "-8"),
}  # fmt: skip
_GRID = grid_bytes((at, plug, "+-".index(full[0])) for at, (plug, full, _) in PRINTED.items())
END = PowerdrainPosition(tuple(SETUP["left"]), tuple(SETUP["top"]), _GRID, (0, 0))
FIGURE = (Path(__file__).parent / "figure.txt").read_text()


class TestPowerdrain(playing.GameTests):
    key = "powerdrain"
    illegal = (
        (DEALT, "24-57", "plug 24 is Negative's, and it is Positive's turn"),
        (GAME.played("22-11 24-99", at=DEALT), "26-11", "section 11 already holds plug 22"),
        (GAME.played("22-11 24-99", at=DEALT), "22-13", "plug 22 is already in section 11"),
        (GAME.played("22-11 24-99", at=DEALT), "24-13", "plug 24 is already in section 99"),
    )
    unreadable = (
        "", "24", "2424", "5757", "2557", "24-5", "24-577", "24--57", "24:57", "-2457", "2-457",
        "0457", "2450", "resign", "24-57x", "\u0662\u0664-57", "24\u201357", "1" * 9000,
    )  # fmt: skip
    form = "a move is written plug-section, two even digits and two odd ones, such as 24-57"
    shown = ((GAME.played("24-75 82-95", at=start("-o2", "-p")), "grid"),)

    def test_the_printed_game_is_drawn_as_it_is_printed(self):
        ended = "\n\n4 active plugs to 2"
        assert draw_text(RULES, END, "grid", ("player1", "player2")) == FIGURE[:-1] + ended
        assert all(FIGURE in page for page in playing.help_pages("powerdrain"))

    def test_an_unknown_display_is_refused(self):
        said = playing.refusal(Code.BAD_OPTION, draw_text, RULES, DEALT, "large")
        assert said.startswith("powerdrain has no display 'large'; known are grid")


class Recording(RandomChance):
    """A chance that keeps what it was asked for."""

    def __init__(self, rng):
        super().__init__(rng)
        self.asked = []

    def shuffled(self, purpose, items):
        self.asked.append((purpose, list(items)))
        return super().shuffled(purpose, items)


POTENTIALS = ("powerdrain/potentials", COUNTING)


DEAL = ("powerdrain/plugs", list(PLUGS))


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ((), [POTENTIALS, POTENTIALS, DEAL]),
        (("-o1",), [DEAL]),
        (("-o2",), [DEAL]),
        (("-p",), [POTENTIALS, POTENTIALS]),
        (("-o1", "-p"), []),
        (("-o2", "-p"), []),
    ],
)
def test_only_what_the_options_leave_open_is_drawn(flags, asked):
    chance = Recording(random.Random(1))
    setup = RULES.draw(RULES.read_options(flags), 2, chance)
    assert chance.asked == asked
    assert RULES.needs_draw(RULES.read_options(flags), 2) == bool(asked)
    assert (setup is None) == (not asked)


@pytest.mark.parametrize(
    ("flags", "change", "problem"),
    [
        ((), None, "Expected `object`, got `null`"),
        ((), {"left": [1, 3, 5, 7]}, "Expected `array` of length 5, got 4"),
        ((), {"left": [1, 3, 5, 7, "9"]}, "Expected `int`, got `str`"),
        ((), {"left": [1, 3, 5, 7, 7]}, "the left edge is not 1 3 5 7 9 in some order"),
        ((), {"top": [1, 3, 5, 7, 8]}, "the top edge is not 1 3 5 7 9 in some order"),
        (("-o1",), {}, "with -o1 the left edge is 1 3 5 7 9"),
        (("-o2",), {"left": MIXED}, "with -o2 the top edge is 7 9 1 3 5"),
        ((), {"grid": {}}, "Object contains unknown field `grid`"),
        ((), {"hands": [HANDS[0]]}, "Expected `array` of length 2, got 1"),
        ((), {"hands": [HANDS[0], HANDS[1][1:]]}, "plug 24 is missing"),
        ((), {"hands": [HANDS[0], [*HANDS[1], "22"]]}, "plug 22 is there twice"),
        ((), {"hands": [HANDS[0], [*HANDS[1], "24"]]}, "plug 24 is there twice"),
        ((), {"hands": [HANDS[0], [*HANDS[1][1:], "23"]]}, "'23' is no plug"),
        ((), {"hands": [HANDS[0][1:], [*HANDS[1], "22"]]}, "Positive does not have 8 plugs"),
        ((), {"hands": None}, "without -p there are two hands, and there is no pool"),
        ((), {"pool": []}, "without -p there are two hands, and there is no pool"),
        (("-p",), {}, "with -p there is a pool, and there are no hands"),
        (("-p",), {"hands": None, "pool": list(PLUGS[1:])}, "plug 22 is missing"),
        (("-o1", "-p"), {}, "with -o1 and -p chance draws no setup"),
    ],
)
def test_a_setup_that_does_not_fit_is_refused(flags, change, problem):
    setup = None if change is None else SETUP | change
    sentence = playing.bad_setup(RULES.start, RULES.read_options(flags), 2, setup)
    assert sentence.startswith("this does not fit powerdrain: ")
    assert problem in sentence


@pytest.mark.parametrize("flags", OPTION_SETS, ids=" ".join)
def test_moves_their_effect_and_the_drain_agree_with_the_reference(flags):
    for seed in range(8):
        rng, at = random.Random(seed), start(*flags, seed=seed)
        while RULES.outcome(at) is None:
            shown = RULES.to_json(at)
            turn = RULES.to_move(at)
            assert turn == len(shown["grid"]) % 2
            assert GAME.legal(at) == reference.legal(shown, turn)
            assert RULES.count_moves(at) == len(RULES.moves(at)) == len(GAME.legal(at))
            text = rng.choice(GAME.legal(at))
            at = GAME.played(text, at=at)
            after = RULES.to_json(at)
            assert after == reference.play(shown, turn, text)
            assert list(after["grid"]) == sorted(after["grid"])
            left = remaining_volts(at.left, at.top, at.grid)
            assert {SECTIONS[s]: abs(v) for s, v in left.items()} == reference.drained(after)
        assert RULES.outcome(at).winners == reference.result(RULES.to_json(at))


# --- the drawing


def voltages(at):
    """Return plug, value and what is left by section, from the drawing as text."""
    lines = draw_text(RULES, at, "grid").split("\n")
    top = lines[0].split()
    found = {}
    for plugs, volts in zip(lines[2::3][:5], lines[3::3][:5], strict=True):
        for column, (plug, volt) in enumerate(
            zip(plugs.split("|")[1:6], volts.split("|")[1:6], strict=True)
        ):
            if plug.strip():
                name = f"{plugs[0]}{top[column]}"
                found[name] = (plug[2] + plug[4], volt[:3].strip(), volt[4:].strip())
    return found


def test_plugs_are_drawn_with_their_value_and_what_is_left():
    for game in read_games("powerdrain")[:3]:
        for at in replay(game):
            found = {}
            for name, place in places(parsed("powerdrain", at)).items():
                for plug in with_class(place, "piece"):
                    kinds = ("digit", "value", "left")
                    texts = [
                        "".join(each.text for each in with_class(plug, kind)) for kind in kinds
                    ]
                    found[name] = tuple(text.replace("\N{MINUS SIGN}", "-") for text in texts)
                    assert plug.get("data-plug") == texts[0]
                    assert ("drained" in plug.get("class")) == (texts[2] == "0")
            assert found == voltages(at)


def test_the_edges_name_the_sections_beside_them():
    at = next(replay(recorded("powerdrain")))
    tree = parsed("powerdrain", at)
    digits = [(each.text, float(each.get("x")), float(each.get("y"))) for each in
              with_class(tree, "edge-digit") if each.text.isdigit()]  # fmt: skip
    for name, place in places(tree).items():
        x, y = centre(place)
        assert [digit for digit, _, down in digits if down == y] == [name[0]]
        assert [digit for digit, across, _ in digits if across == x] == [name[1]]


@pytest.mark.parametrize("family", ["2", "2 -p"])
def test_plugs_not_yet_in_lie_below_and_can_be_touched(family):
    game = recorded("powerdrain", family)
    for at in replay(game):
        shown, tree = RULES.to_json(at), parsed("powerdrain", at)
        left = shown["hands"] if family == "2" else [shown["pool"]]
        chips = with_class(tree, "plug")
        seats = {"light": "0", "dark": "1", "pool": None}
        assert [each.get("data-plug") for each in chips] == [plug for hand in left for plug in hand]
        assert all(each.get("data-seat") == seats[each.get("class").split()[1]] for each in chips)
        for hit in (with_class(each, "hit")[0] for each in (*chips, *places(tree).values())):
            assert min(float(hit.get("width")), float(hit.get("height"))) >= wide(tree)


@pytest.mark.parametrize("seed", range(20))
def test_the_winner_of_a_match_that_ends_now_has_the_larger_share(seed):
    *_, (at, _) = playing.random_game(RULES, start(seed=seed), random.Random(seed))
    outcome, shares = RULES.outcome(at), evaluate(at)
    assert sum(shares) == pytest.approx(1)
    if len(outcome.winners) == 1 and outcome.reason == "more-power":
        assert shares[outcome.winners[0]] > 0.5
