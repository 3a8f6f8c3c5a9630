"""The drawings in SVG game by game: where things are, what is marked, what is told apart how."""

import random
import re
from itertools import combinations, pairwise
from math import dist, hypot
from xml.etree import ElementTree as ET

import pytest

from domain.boards.pow2_board import LINES, NAMES, POINTS
from domain.drawing import draw_svg, draw_text
from domain.rules import current
from tests.domain.playing import play
from tests.golden.make_games import GOLDEN, read_games, replay

SVG = "{http://www.w3.org/2000/svg}"
TOUCH = 44
"""What a finger needs, in pixels, on a board shown 480 pixels wide."""
SHOWN = 480


def start(key, *flags, players=2):
    rules = current(key)
    return rules.start(rules.read_options(flags), players, None)


def parsed(key, at, **more):
    return ET.fromstring(draw_svg(current(key), at, (), **more))


def after(key, at, *texts):
    """Give the drawing after moves, the last of them marked."""
    return parsed(key, play(current(key), at, *texts), last=texts[-1])


def recorded(key, family=None):
    """Give the first game on record, of a family."""
    games = read_games(GOLDEN / f"games-{key}.json")
    return next(game for game in games if family in (None, game["family"]))


def with_class(tree, name):
    return [each for each in tree.iter() if name in each.get("class", "").split()]


def places(tree):
    return {each.get("data-place"): each for each in with_class(tree, "place")}


def centre(place):
    x, y = re.fullmatch(r"translate\((\S+) (\S+)\)", place.get("transform")).groups()
    return float(x), float(y)


def corners(path):
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", path.get("d"))]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def points(line):
    return [tuple(map(float, each.split(","))) for each in line.get("points").split()]


def size(place, side):
    """Give the size of what stands on a place."""
    return float(with_class(place, "body")[0].get(side))


def marked(tree):
    """Give the places of the last move, those where nothing stands any more with a hyphen."""
    found = set()
    for name, place in places(tree).items():
        rings = [each for each in place if "ring" in each.get("class", "")]
        assert len(rings) == ("last" in place.get("class").split())
        found |= {f"-{name}" if "gone" in each.get("class") else name for each in rings}
    return found


def wide(tree):
    """Give how many units of a drawing are as wide as a finger's touch."""
    return TOUCH * float(tree.get("viewBox").split()[2]) / SHOWN


# --- the Power of Two board


def test_the_64_places_lie_where_the_lines_cross():
    found = {name: centre(place) for name, place in places(parsed("line", start("line"))).items()}
    assert list(found) == list(NAMES)
    (left, top), (right, bottom) = found["a1"], found["m13"]
    for name, (x, y) in found.items():
        across, down = POINTS[name]
        assert (x - left) / (right - left) == pytest.approx(across / 720, abs=1e-9)
        assert (y - top) / (bottom - top) == pytest.approx(down / 720, abs=1e-9)


def test_the_44_lines_are_drawn_from_end_to_end_the_outer_ones_as_edges():
    tree = parsed("line", start("line"))
    where = {name: centre(place) for name, place in places(tree).items()}
    lines = {each.get("data-line"): each for each in with_class(tree, "line")}
    assert set(lines) == {f"{NAMES[line[0]]}-{NAMES[line[-1]]}" for line in LINES}
    assert len(lines) == 44
    for name, line in lines.items():
        begin, end = name.split("-")
        assert (float(line.get("x1")), float(line.get("y1"))) == where[begin]
        assert (float(line.get("x2")), float(line.get("y2"))) == where[end]
    edges = {name for name, line in lines.items() if "edge" in line.get("class")}
    assert edges == {"a1-a13", "m1-m13", "a1-m1", "a13-m13"}


def test_letters_and_numbers_stand_on_all_four_sides_and_the_mark_in_the_middle():
    tree = parsed("pow2", start("pow2"))
    labels = [each.text for each in with_class(tree, "label")]
    assert sorted(labels) == sorted([*"abcdefghijklm", *map(str, range(1, 14))] * 2)
    (mark,) = with_class(tree, "mark")
    assert mark.text == "P o T"
    (left, top), (right, bottom) = (centre(places(tree)[name]) for name in ("a1", "m13"))
    assert (float(mark.get("x")), float(mark.get("y"))) == ((left + right) / 2, (top + bottom) / 2)


def test_every_place_can_be_touched_by_a_finger():
    tree = parsed("line", start("line"))
    for name, place in places(tree).items():
        (hit,) = with_class(place, "hit")
        for along in zip(*corners(hit), strict=True):
            assert max(along) - min(along) >= wide(tree), name


def test_a_touch_means_the_nearest_place_and_never_two():
    drawn = places(parsed("line", start("line")))
    areas = {
        name: (centre(place), corners(place.find(f"{SVG}path"))) for name, place in drawn.items()
    }
    rng = random.Random(1)
    hit = 0
    for _ in range(2000):
        touch = rng.uniform(20, 492), rng.uniform(20, 492)
        distances = {name: dist(touch, middle) for name, (middle, _) in areas.items()}
        nearest, second = sorted(distances, key=distances.get)[:2]
        if distances[second] - distances[nearest] < 0.1:
            continue
        inside = [name for name, area in areas.items() if _holds(*area, touch)]
        assert inside in ([], [nearest])
        hit += len(inside)
        assert inside or distances[nearest] > 29
    assert hit > 1000


def _holds(middle, area, touch):
    """Tell whether a convex area around its middle holds a point."""
    x, y = touch[0] - middle[0], touch[1] - middle[1]
    sides = [
        (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        for (ax, ay), (bx, by) in pairwise([*area, area[0]])
    ]
    return all(side >= 0 for side in sides) or all(side <= 0 for side in sides)


def test_pieces_of_neighbouring_places_do_not_touch():
    tree = parsed("pow2", start("pow2"))
    (disc,) = {each.get("r") for each in with_class(tree, "body") if each.get("r")}
    where = [centre(place) for place in places(tree).values()]
    nearest = min(dist(one, other) for one, other in combinations(where, 2))
    assert 2 * float(disc) + 2 < nearest


def test_seats_have_shapes_of_their_own():
    for key in ("pow2", "goliath", "torere"):
        tree = parsed(key, start(key))
        shapes = {
            look: {
                each.tag.removeprefix(SVG)
                for piece in with_class(tree, look)
                for each in with_class(piece, "body")
            }
            for look in ("light", "dark")
        }
        assert shapes == {"light": {"circle"}, "dark": {"rect"}}


def test_aged_pieces_are_hollow_and_empty_places_have_a_spot():
    for at in replay(recorded("pow2")):
        board = current("pow2").to_json(at)["board"]
        for name, place in places(parsed("pow2", at)).items():
            assert len(with_class(place, "hole")) == (board.get(name) in ("o", "x"))
            assert len(with_class(place, "spot")) == (name not in board)


def test_figures_are_larger_than_stones_and_lettered():
    tree = after("goliath", start("goliath"), "m13-h8:i9", "a1-c3:f6")
    drawn = places(tree)
    assert [with_class(drawn[name], "letter")[0].text for name in ("h8", "c3")] == ["D", "G"]
    assert not with_class(drawn["i9"], "letter")
    assert size(drawn["h8"], "r") > size(drawn["i9"], "r")
    assert size(drawn["c3"], "width") > size(drawn["f6"], "width")


def test_the_jumper_is_larger_than_the_stones():
    drawn = places(after("jump", start("jump", players=1), "a1", "e1:g1"))
    assert size(drawn["g1"], "r") > size(drawn["e1"], "r")


@pytest.mark.parametrize("key", ["one", "two"])
def test_lines_that_count_and_lines_with_too_many_stones_are_marked(key):
    for at in replay(recorded(key)):
        tree, counts = parsed(key, at), draw_text(current(key), at, "small").split("\n")[0]
        full = re.search(r"Lines with exactly \w+: (\d+)", counts)[1]
        assert len(with_class(tree, "full")) == int(full)
        stones = current(key).to_json(at)["board"]
        most = {"one": 1, "two": 2}[key]
        over = sum(sum(NAMES[place] in stones for place in line) > most for line in LINES)
        assert len(with_class(tree, "over")) == over
        (said,) = with_class(tree, "counts")
        assert f"{full} lines with {key}, {over} with more" in said.text


@pytest.mark.parametrize(
    ("key", "texts", "touched", "ways", "thrown"),
    [
        ("pow2", "m13-j7", "-m13 j7", "m13-j7", ""),
        ("pow2", "m13-j7 a13-a9 j7-m7", "-j7 m7", "j7-m7", ""),
        ("goliath", "m13-h8:i9", "-m13 h8 i9", "m13-h8", "h8-i9"),
        ("line", "c3 j12", "j12", "", ""),
        ("duo", "c3 j12", "j12", "", ""),
        ("jump", "a1 e1:g1", "e1 g1", "", ""),
        ("jump", "a1 e1:g1 e3:d4-g1", "e3 -d4 g1", "d4-g1", ""),
        ("one", "a5 -a5", "-a5", "", ""),
        ("two", "a5 c3", "c3", "", ""),
        ("two", "a5 done", "", "", ""),
    ],
)
def test_the_last_move_is_marked_with_the_ways_that_were_gone(key, texts, touched, ways, thrown):
    tree = after(key, start(key, players=current(key).players[0]), *texts.split())
    assert marked(tree) == set(touched.split())
    where = {name: centre(place) for name, place in places(tree).items()}
    trails = {"trail": [], "trail thrown": []}
    for each in with_class(tree, "trail"):
        trails[each.get("class")].append(points(each))
    for kind, expected in (("trail", ways), ("trail thrown", thrown)):
        assert trails[kind] == [
            [where[name] for name in way.split("-")] for way in expected.split()
        ]


@pytest.mark.parametrize("key", ["pow2", "goliath", "jump"])
def test_all_places_of_a_last_move_are_marked_and_no_others(key):
    game = recorded(key)
    for at, last in zip(list(replay(game))[1:], game["moves"].split(), strict=False):
        board = current(key).to_json(at)["board"]
        named = set(re.findall(r"[a-m]\d+", last))
        expected = {name if name in board else f"-{name}" for name in named}
        assert marked(parsed(key, at, last=last)) == expected


# --- torere


def test_a_stone_goes_straight_to_the_putahi_and_round_to_the_next_kewai():
    drawn = [
        with_class(after("torere", start("torere"), *texts.split()), "trail")[0].get("d")
        for texts in ("4-0", "4-0 5-4", "1-0 8-1")
    ]
    assert re.fullmatch(r"M\S+ \S+L\S+ \S+", drawn[0])
    assert ["0 0 0" in drawn[1], "0 0 1" in drawn[2]] == [True, True]  # against and with the clock
    assert marked(after("torere", start("torere"), "4-0", "5-4")) == {"-5", "4"}


def test_kewai_lie_around_the_putahi_clockwise_from_the_top():
    where = {
        name: centre(place) for name, place in places(parsed("torere", start("torere"))).items()
    }
    middle = where.pop("0")
    assert {round(dist(middle, at)) for at in where.values()} == {172}
    (top, right, bottom, left) = (where[name] for name in "1357")
    assert (top[0], bottom[0]) == (middle[0], middle[0])
    assert top[1] < middle[1] < bottom[1]
    assert left[0] < middle[0] < right[0]


# --- powerdrain


def voltages(at):
    """Give plug, value and what is left by section, from the drawing as text."""
    lines = draw_text(current("powerdrain"), at, "grid").split("\n")
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
    for game in read_games(GOLDEN / "games-powerdrain.json")[:3]:
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
        shown, tree = current("powerdrain").to_json(at), parsed("powerdrain", at)
        left = shown["hands"] if family == "2" else [shown["pool"]]
        chips = with_class(tree, "plug")
        seats = {"light": "0", "dark": "1", "pool": None}
        assert [each.get("data-plug") for each in chips] == [plug for hand in left for plug in hand]
        assert all(each.get("data-seat") == seats[each.get("class").split()[1]] for each in chips)
        for hit in (with_class(each, "hit")[0] for each in (*chips, *places(tree).values())):
            assert min(float(hit.get("width")), float(hit.get("height"))) >= wide(tree)


def test_the_section_of_the_last_plug_is_marked():
    game = recorded("powerdrain")
    for at, last in zip(list(replay(game))[1:], game["moves"].split(), strict=True):
        assert marked(parsed("powerdrain", at, last=last)) == {last[-2:]}


# --- halves


def tiles(tree):
    return {
        tuple(map(int, each.get("data-cell").split(","))): each
        for each in tree.iter(f"{SVG}g")
        if each.get("data-cell")
    }


def test_neighbouring_cells_lie_side_by_side():
    for at in replay(recorded("halves", "3")):
        where = {cell: centre(each) for cell, each in tiles(parsed("halves", at)).items()}
        for (one, here), (other, there) in combinations(where.items(), 2):
            q, r = other[0] - one[0], other[1] - one[1]
            beside = (abs(q), abs(r), abs(q + r)) in ((1, 0, 1), (0, 1, 1), (1, 1, 0))
            apart = hypot(here[0] - there[0], here[1] - there[1])
            assert (apart < 59) == beside
            assert apart > 58


def test_the_picture_does_not_jump_while_tiles_are_removed():
    boxes = set()
    for at in list(replay(recorded("halves")))[:-1]:
        tree = parsed("halves", at)
        (frame,) = with_class(tree, "tiles")
        boxes.add((tree.get("viewBox"), frame.get("transform")))
    assert len(boxes) == 1


@pytest.mark.parametrize("family", ["2", "2 -manual_start"])
def test_tiles_and_free_cells_are_places_by_their_numbers(family):
    for at in replay(recorded("halves", family)):
        shown, tree = current("halves").to_json(at), parsed("halves", at)
        cells = {(q, r): str(number) for q, r, number in shown.get("cells", ())}
        named = {(q, r): str(number) for q, r, _, number in shown["tiles"] if number}
        drawn = tiles(tree)
        found = {cell: each.get("data-place") for cell, each in drawn.items()}
        assert {cell: name for cell, name in found.items() if name} == cells | named
        for cell in cells | named:
            assert with_class(drawn[cell], "number")[0].text == found[cell]
            assert len(with_class(drawn[cell], "hit")) == 1
            assert ("free" in drawn[cell].get("class").split()) == (cell in cells)


def test_the_tiles_of_an_ordinary_match_can_be_touched_by_a_finger():
    for game in read_games(GOLDEN / "games-halves.json")[:20]:
        tree = parsed("halves", next(replay(game)))
        (frame,) = with_class(tree, "tiles")
        scale = float((re.search(r"scale\((\S+)\)", frame.get("transform")) or ["", "1"])[1])
        _, down = zip(*corners(with_class(tree, "hit")[0]), strict=True)
        assert scale * (max(down) - min(down)) >= wide(tree)


def test_a_large_match_is_drawn_small_enough_to_fit():
    rules = current("halves")
    at = start("halves", "-manual_start", "-touch_any", "-tiles_each=20")
    while rules.to_json(at)["phase"] == "wax":
        at = play(rules, at, "1")  # always farther up
    tree = parsed("halves", at)
    (frame,) = with_class(tree, "tiles")
    left, top, scale = map(float, re.findall(r"[-\d.]+", f"{frame.get('transform')} 1")[:3])
    width, height = map(float, tree.get("viewBox").split()[2:])
    for cell in tiles(tree).values():
        x, y = centre(cell)
        assert 0 < left + scale * (x - 34) < left + scale * (x + 34) < width
        assert 0 < top + scale * (y - 34) < top + scale * (y + 34) < height


def test_swapped_colours_stay_what_they_are_and_change_hands():
    at = next(replay(recorded("halves")))
    kept, swapped = (
        [(each.get("class"), each.get("data-seat")) for each in with_class(after("halves", at, word),
                                                                          "piece")]
        for word in ("keep", "swap")
    )  # fmt: skip
    assert [classes for classes, _ in kept] == [classes for classes, _ in swapped]
    assert all(one[1] != other[1] for one, other in zip(kept, swapped, strict=True))


def test_the_tile_taken_last_leaves_a_mark_and_what_fell_off_too_if_before_is_known():
    game = recorded("halves")
    moves, played = game["moves"].split(), list(replay(game))
    fallen = 0
    for last, (before, at) in zip(moves, pairwise(played), strict=True):
        there = [
            {(q, r): number for q, r, _, number in current("halves").to_json(each)["tiles"]}
            for each in (before, at)
        ]
        gone = set(there[0]) - set(there[1])
        taken = {cell for cell in gone if str(there[0][cell]) == last.partition(",")[0]}
        for expected, more in ((taken, {}), (gone, {"before": before})):
            drawn = tiles(parsed("halves", at, last=last, **more))
            assert {cell for cell, each in drawn.items() if with_class(each, "ring")} == expected
        fallen += len(gone) - len(taken)
    assert fallen > 0


def test_the_tile_placed_last_is_marked_if_the_position_before_is_known():
    game = recorded("halves", "2 -manual_start")
    for last, (before, at) in zip(game["moves"].split(), pairwise(replay(game)), strict=False):
        shown = current("halves").to_json(before)
        if shown["phase"] == "wax":
            cell = next((q, r) for q, r, number in shown["cells"] if str(number) == last)
            drawn = tiles(parsed("halves", at, last=last, before=before))
            assert [each for each in drawn if with_class(drawn[each], "ring")] == [cell]
            assert not with_class(parsed("halves", at, last=last), "ring")


def test_one_of_three_who_has_left_is_said_to_be_out():
    at = next(replay(recorded("halves", "3")))
    tree = parsed("halves", current("halves").leave(at, 2))
    assert [each.text for each in with_class(tree, "counts")] == [
        "12 tiles", "12 tiles", "12 tiles, out",
    ]  # fmt: skip
