"""What the tests of the drawings in SVG share: making them, and finding things in them."""

import re
from xml.etree import ElementTree as ET

from domain.drawing import draw_svg
from domain.rules import latest_rules
from tests.games.playing import play
from tests.golden.make_games import read_games

SVG = "{http://www.w3.org/2000/svg}"
TOUCH = 44
"""What a finger needs, in pixels, on a board shown 480 pixels wide."""
SHOWN = 480


def start(key, *flags, players=2):
    rules = latest_rules(key)
    return rules.start(rules.read_options(flags), players, None)


def parsed(key, at, **more):
    return ET.fromstring(draw_svg(latest_rules(key), at, (), **more))


def after(key, at, *texts):
    """Return the drawing after moves, the last of them marked."""
    return parsed(key, play(latest_rules(key), at, *texts), last=texts[-1])


def recorded(key, family=None):
    """Return the first game on record, of a family."""
    games = read_games(key)
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
    """Return the size of what stands on a place."""
    return float(with_class(place, "body")[0].get(side))


def marked(tree):
    """Return the places of the last move, those where nothing stands any more with a hyphen."""
    found = set()
    for name, place in places(tree).items():
        rings = [each for each in place if "ring" in each.get("class", "")]
        assert len(rings) == ("last" in place.get("class").split())
        found |= {f"-{name}" if "gone" in each.get("class") else name for each in rings}
    return found


def wide(tree):
    """Return how many units of a drawing are as wide as a finger's touch."""
    return TOUCH * float(tree.get("viewBox").split()[2]) / SHOWN
