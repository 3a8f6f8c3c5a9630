"""Where text drawings show the places that moves name."""

import re
from itertools import combinations
from random import Random

import pytest

from domain.drawing import TextPlace, draw_text, text_places
from domain.fairness import DrawStream
from domain.game.protocol import AnyRules
from domain.rules import all_games

PLACE = re.compile(r"[a-z]*\d+")

STARTS = [(game.latest, players) for game in all_games() for players in game.latest.players]


def positions(rules: AnyRules, players: int, *flags: str):
    """The first positions of a random match."""
    options, chance = rules.read_options(flags), DrawStream(bytes(32), "test/1")
    position = rules.start(options, players, rules.draw(options, players, chance))
    for number in range(12):
        yield position
        moves = list(rules.legal_moves(position))
        if not moves:
            return
        move = rules.read(Random(number).choice(moves))
        position = rules.play(position, rules.check(position, move))


def overlap(one: TextPlace, other: TextPlace) -> bool:
    return (
        one.line < other.line + other.height
        and other.line < one.line + one.height
        and one.column < other.column + other.width
        and other.column < one.column + one.width
    )


@pytest.mark.parametrize(("rules", "players"), STARTS, ids=lambda value: getattr(value, "key", ""))
def test_every_place_of_a_legal_move_is_in_the_drawing_once(rules, players):
    flags = ["-manual_start"] if rules.key == "halves" and players == 2 else []
    for position in positions(rules, players, *flags):
        lines = draw_text(rules, position, rules.displays[0]).split("\n")
        places = text_places(rules, position, rules.displays[0])
        names = [place.name for place in places]
        assert len(set(names)) == len(names)
        for move in rules.legal_moves(position):
            assert set(PLACE.findall(move)) <= set(names), move
        for place in places:
            assert place.line + place.height <= len(lines)
            assert place.column < len(lines[place.line])
        assert not any(overlap(*two) for two in combinations(places, 2))
