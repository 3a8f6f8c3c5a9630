"""Mū tōrere in SVG."""

import re
from math import dist

from tests.games.svg_pictures import after, centre, marked, parsed, places, start, with_class


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
    assert {round(dist(middle, at)) for at in where.values()} == {168}
    (top, right, bottom, left) = (where[name] for name in "1357")
    assert (top[0], bottom[0]) == (middle[0], middle[0])
    assert top[1] < middle[1] < bottom[1]
    assert left[0] < middle[0] < right[0]
