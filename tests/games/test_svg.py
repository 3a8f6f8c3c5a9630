"""The drawings in SVG of every game: what holds for all of them, and the boards on file.

The words of drawings in German: the shapes are the same as in English.
"""

import re
from functools import cache
from itertools import combinations, islice
from random import Random
from xml.etree import ElementTree as ET

import pytest

from domain.drawing import TextPlace, draw_svg, draw_text, text_places
from domain.fairness import DrawStream
from domain.game.painter import BoardInput
from domain.game.protocol import AnyRules, GameOutcome
from domain.rules import (
    all_games,
    all_rules,
    game_by_key,
    latest_rules,
    rules_by_id,
)
from domain.sentences import ENGLISH
from infra.languages.wording import wording
from tests.golden.make_games import read_games, replay
from tests.golden.make_svg import NAMES, drawn, path_of

SVG = "{http://www.w3.org/2000/svg}"
RUDE = """<script>&"']]>--\x00\x1b\ud800\ufffe"""
KEYS = sorted({rules.key for rules in all_rules()})
RECORDED = [pytest.param(read_games(key)[0], id=key) for key in KEYS]
RECORDED += [
    pytest.param(
        next(one for one in read_games("halves") if one["family"] == "3"), id="halves of three"
    ),
    pytest.param(
        next(one for one in read_games("powerdrain") if one["family"] == "2 -p"), id="a pool"
    ),
]
"""A drawing sees the JSON form only, not the options, so one recorded game of each form is enough."""
each_game = pytest.mark.parametrize("game", RECORDED)


@cache
def _positions(key, number):
    played = list(replay(read_games(key)[number]))
    return [*played[:: max(1, len(played) // 4)], played[-1]]


def positions(game):
    """Return about six positions of a recorded game, from the first to the last."""
    key = game["rules"].partition("/")[0]
    return _positions(key, read_games(key).index(game))


def read(text):
    return ET.fromstring(text)


def parsed(rules, at, names=(), **more):
    return read(draw_svg(rules, at, names, **more))


def with_class(tree, name):
    return [each for each in tree.iter() if name in each.get("class", "").split()]


def words(tree):
    return tree.find(f"{SVG}title").text, tree.find(f"{SVG}desc").text


def states(tree):
    return [player.get("class") for player in with_class(tree, "player")]


# --- every game


def most_bytes(places):
    """Return how long a drawing may be: of a large board 400 bytes a place."""
    return max(44_000, 400 * places)


@each_game
def test_a_drawing_is_small_and_refers_to_nothing_outside(game):
    rules = rules_by_id(game["rules"])
    for at in positions(game):
        text = draw_svg(rules, at, NAMES[: game["players"]])
        assert len(text.encode()) <= most_bytes(text.count("data-place="))
        assert not re.search(r"<script|href|url\(|@import|\bon[a-z]+=|<image|<foreignObject", text)
        assert re.findall("https?:[^\"']*", text) == ["http://www.w3.org/2000/svg"]


@each_game
def test_the_players_beside_a_board_are_the_same_however_it_is_drawn(game):
    rules = rules_by_id(game["rules"])
    paint, last = game_by_key(rules.key).paint, game["moves"].split()[0]
    before, at = (rules.to_json(each) for each in islice(replay(game), 2))
    for language in (ENGLISH, wording("de")):
        drawn_ways = [
            paint(BoardInput(at, *more, language=language)).players
            for more in ((), (last,), (last, before), ("", None, True))
        ]
        assert drawn_ways == drawn_ways[:1] * 4


@each_game
def test_names_are_shown_and_nothing_in_them_is_markup(game):
    rules = rules_by_id(game["rules"])
    names = [f"{seat}{RUDE}" for seat in range(game["players"])]
    at = next(replay(game))
    tree, plain = (parsed(rules, at, given) for given in (names, NAMES[: game["players"]]))
    shown = [
        name.replace("\x00", "?").replace("\x1b", "?").replace("\ud800", "?") for name in names
    ]
    shown = [name.replace("?", "\ufffd").replace("\ufffe", "\ufffd") for name in shown]
    assert [name.text for name in with_class(tree, "name")] == shown
    assert all(name in words(tree)[0] for name in shown)
    assert [each.tag for each in tree.iter()] == [each.tag for each in plain.iter()]


@each_game
def test_a_drawing_says_who_plays_and_how_it_stands_and_marks_who_is_to_move_or_has_won(game):
    rules, players = rules_by_id(game["rules"]), game["players"]
    names = NAMES[:players]
    for at in positions(game):
        tree = parsed(rules, at, names)
        title, description = words(tree)
        assert title.startswith(f"{rules.title}: alice ({rules.side_names[0]})")
        seat, outcome = rules.to_move(at), rules.outcome(at)
        if outcome is None:
            begin, marked, kind = (
                f"{names[seat]} ({rules.side_names[seat]}) is to move.",
                [seat],
                "player turn",
            )
        else:
            begin, marked, kind = (
                outcome.detail,
                outcome.winners if players > 1 else (),
                "player won",
            )
        assert description.startswith(begin)
        assert states(tree) == [kind if one in marked else "player" for one in range(players)]


@pytest.mark.parametrize("key", KEYS)
def test_a_position_is_drawn_as_on_file(key):
    assert drawn(key) == path_of(key).read_text()


# --- the frame


def start(key, *flags, players=2):
    rules = latest_rules(key)
    return rules, rules.start(rules.read_options(flags), players, None)


def test_a_match_that_did_not_end_by_its_rules_is_nobodys_turn():
    rules, at = start("pow2")
    ended = GameOutcome((1,), "resigned", "alice has resigned")
    tree = parsed(rules, at, NAMES[:2], ended=ended)
    assert states(tree) == ["player", "player won"]
    assert [each.text for each in with_class(tree, "tag-words")] == ["won"]
    assert [each.text for each in with_class(tree, "ending")] == ["alice has resigned"]
    assert words(tree)[1].startswith("alice has resigned. Light: 14 left to place.")


def test_as_many_names_are_given_as_there_are_seats():
    rules, at = start("goliath")
    with pytest.raises(ValueError, match="1 names are given for 2 seats"):
        draw_svg(rules, at, ["alice"])


def test_a_name_too_long_for_its_plate_is_narrowed():
    rules, at = start("halves", "-manual_start", players=3)
    short, middle, long = with_class(parsed(rules, at, ["bo", "b" * 12, "b" * 20]), "name")
    assert short.get("class") == "name"
    assert short.get("textLength") is None
    assert middle.get("class") == long.get("class") == "name long"
    assert float(long.get("textLength")) < 512 / 3


@pytest.mark.parametrize("last", ["<script>", '"&', "z99-a1", "9", "-", ":", "a1-", "keep", "done"])
def test_a_text_that_names_no_place_marks_none(last):
    for rules in all_rules():
        game = read_games(rules.key)[0]
        at = next(replay(game))
        tree = parsed(rules, at, last=last)
        marked = {each.get("data-place") for each in with_class(tree, "last")}
        assert marked <= ({"a1"} if "a1" in last else set())
        assert words(tree)[1].count(f"The last move was {last}.") == 1


@each_game
def test_only_words_differ_between_languages_and_a_drawing_does_not_depend_on_those_before_it(game):
    rules, names = rules_by_id(game["rules"]), NAMES[: game["players"]]
    word = r">[^<>]+<| textLength=\S+ lengthAdjust=\S+\""
    for at in positions(game):
        english, turned, german, again = (
            draw_svg(rules, at, names, language=wording(language), turned=turned)
            for language, turned in (("en", False), ("en", True), ("de", False), ("en", False))
        )
        assert english == again
        assert re.sub(word, "", english) == re.sub(word, "", german)
        assert turned.count("data-place=") == english.count("data-place=")


# --- where text drawings show the places that moves name


PLACE = re.compile(r"[a-z]*\d+")

STARTS = [(game.latest, players) for game in all_games() for players in game.latest.players]


def drawn_positions(rules: AnyRules, players: int, *flags: str):
    """The first drawn_positions of a random match."""
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
    for position in drawn_positions(rules, players, *flags):
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
