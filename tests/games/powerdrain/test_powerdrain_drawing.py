"""Powerdrain in SVG: plugs, edges, hands.

What the help pages of powerdrain show and say, in both languages, is what the rules do.

The evaluation of Powerdrain agrees with the endings, and robots find an ending that wins.
"""

import random
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.powerdrain import evaluate
from domain.games.powerdrain.rules import PowerdrainPosition
from domain.rules import latest_rules
from tests.games.powerdrain.given import GOLDEN, play, printed, start
from tests.games.svg_pictures import centre, parsed, places, recorded, wide, with_class
from tests.golden.make_games import RandomChance, read_games, replay


def voltages(at):
    """Return plug, value and what is left by section, from the drawing as text."""
    lines = draw_text(latest_rules("powerdrain"), at, "grid").split("\n")
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
        shown, tree = latest_rules("powerdrain").to_json(at), parsed("powerdrain", at)
        left = shown["hands"] if family == "2" else [shown["pool"]]
        chips = with_class(tree, "plug")
        seats = {"light": "0", "dark": "1", "pool": None}
        assert [each.get("data-plug") for each in chips] == [plug for hand in left for plug in hand]
        assert all(each.get("data-seat") == seats[each.get("class").split()[1]] for each in chips)
        for hit in (with_class(each, "hit")[0] for each in (*chips, *places(tree).values())):
            assert min(float(hit.get("width")), float(hit.get("height"))) >= wide(tree)


PAGES = [
    (Path(__file__).parents[3] / f"domain/games/powerdrain/help{language}.txt").read_text()
    for language in ("", ".de")
]
RULES = latest_rules("powerdrain")


@pytest.mark.parametrize("page", PAGES)
def test_the_boards_on_the_pages_are_the_drawn_ones(page):
    assert (GOLDEN / "figure.txt").read_text() in page
    assert draw_text(RULES, play(start("-o2", "-p"), "24-75", "82-95"), "grid") in page
    assert RULES.outcome(printed()).detail == "4 active plugs to 2"


def played(plies: int, seed: int) -> PowerdrainPosition:
    """Return a position after random moves."""
    rng = random.Random(seed)
    options = RULES.read_options(())
    at: PowerdrainPosition = RULES.start(options, 2, RULES.draw(options, 2, RandomChance(rng)))
    for _ in range(plies):
        at = RULES.play(at, rng.choice(list(RULES.moves(at))))
    return at


@pytest.mark.parametrize("seed", range(20))
def test_the_winner_of_a_match_that_ends_now_has_the_larger_share(seed: int) -> None:
    at = played(16, seed)
    outcome = RULES.outcome(at)
    shares = evaluate(at)
    assert outcome is not None
    assert sum(shares) == pytest.approx(1)
    if len(outcome.winners) == 1 and outcome.reason == "more-power":
        assert shares[outcome.winners[0]] > 0.5
