"""The schemas of games: whatever is on record fits them, and what they name is what is drawn."""

import re

import jsonschema_rs
import pytest

from domain.game.painter import BoardInput, places_in
from domain.game.protocol import TextInput
from domain.game.schemas import notation, one_of
from domain.rules import GamePackage, all_games, game_by_key, rules_by_id
from infra.languages.wording import IN_ENGLISH, wording
from services.app.games import guide_of
from services.words import game_schemas
from services.words.game_schemas import describe_game
from tests.golden.make_games import read_games, replay
from tests.helpers.examples import FULL

GAMES = pytest.mark.parametrize("game", all_games(), ids=lambda game: game.key)


def schema_of(game, name, words=IN_ENGLISH):
    return jsonschema_rs.Draft202012Validator(describe_game(game.latest, words).schemas[name])


def recorded(game):
    """Yield the records of a game of its newest rules."""
    return [one for one in read_games(game.key) if rules_by_id(one["rules"]) is game.latest]


def some(records):
    """Return all records, or in the quick run two of each family."""
    return [one for one in records if FULL or one["number"] < 2]


@GAMES
def test_every_recorded_position_fits_the_schema_and_has_nothing_beside_it(game):
    fits = schema_of(game, "position")
    for record in some(recorded(game)):
        for position in list(replay(record))[:: 1 if FULL else 5]:
            form = game.latest.public_json(position)
            error = next(fits.iter_errors(form), None)
            assert error is None, (record["family"], record["number"], str(error))
    assert not fits.is_valid({**form, "extra": 1})
    for name in form:
        assert not fits.is_valid({**form, name: "?"}), name


@GAMES
def test_every_recorded_and_every_first_move_fits_the_pattern_and_is_made_of_its_parts(game):
    rules, fits = game.latest, schema_of(game, "move")
    written = set()
    for record in recorded(game):
        moves = [one for one in record["moves"].split() if not re.search("[=!]", one)]
        first = next(iter(replay(record)))
        written |= {*moves, *rules.first_moves(first, 500)[0]}
    for move in written:
        assert fits.is_valid(move), move
        assert rules.write(rules.read(move)) == move
        parts = game.notation.read(move)
        assert parts, move
        assert all(text in move for text in parts.values())
    for wrong in ("", "?", "resign", f"{move}?", f"{move} ", "z9"):
        assert not fits.is_valid(wrong), wrong


@GAMES
def test_the_options_of_every_family_fit_and_others_do_not(game):
    fits = schema_of(game, "options")
    for record in recorded(game):
        assert fits.is_valid(record["options"]), record["options"]
    assert fits.is_valid([])
    for wrong in (["-nonsense"], ["fast forward"], [1], "-fast"):
        assert not fits.is_valid(wrong)


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("pow2", ["-fast", "-free"]), ("pow2", ["-exact", "-exact"]), ("halves", ["-tiles_each=1"]),
        ("halves", ["-tiles_each=61"]), ("halves", ["-tiles_each=07"]), ("jump", ["-solitaire=a1"]),
        ("jump", ["-solitaire=a1,b1"]), ("halves", ["-tiles_each=7", "-tiles_each=8"]),
    ],
)  # fmt: skip
def test_what_the_rules_refuse_of_options_the_schema_refuses(key, options):
    assert not schema_of(game_by_key(key), "options").is_valid(options)


@GAMES
def test_every_flag_of_a_form_fits_and_the_rules_read_it(game):
    fits, described = schema_of(game, "options"), describe_game(game.latest, IN_ENGLISH)
    flags = [choice.flag for one in described.options for choice in one.choices if choice.flag]
    flags += [f"-{one.name}={one.low}" for one in described.options if one.kind == "number"]
    for flag in flags:
        assert fits.is_valid([flag]), flag
        assert game.latest.read_options([flag]) is not None
    for one in described.options:
        assert one.title


def test_every_flag_of_a_time_control_is_described_and_its_example_fits():
    described, fits = (
        describe_game(game_by_key("pow2").latest, IN_ENGLISH),
        schema_of(game_by_key("pow2"), "terms"),
    )
    assert {one.name for one in described.terms} == {
        "nagtime", "forfeittime", "silence", "totaltime", "days", "bank", "vacation", "rated-from",
        "weekends", "pause", "unrated",
    }  # fmt: skip
    for one in described.terms:
        assert fits.is_valid([one.example])
        assert re.fullmatch(one.pattern, one.example)
    days = next(one for one in described.terms if one.name == "days")
    assert (days.form, days.means[:13]) == ("--days=N, with N from 1 to 365", "3 days a move")
    for good in (["--bank=10"], ["--bank=10+1:20"], ["--nagtime=1,2,3"], ["--opening=m13-j7"]):
        assert fits.is_valid(good)
    for wrong in (["--days=x"], ["--days=03"], ["days=3"], ["--weekends=maybe"], ["--gather"]):
        assert not fits.is_valid(wrong)
    assert schema_of(game_by_key("powerdrain"), "terms").is_valid(["--gather"])
    assert describe_game(game_by_key("one").latest, IN_ENGLISH).terms == ()


@GAMES
def test_the_places_are_those_of_picture_and_text(game):
    rules, position = game.latest, next(iter(replay(recorded(game)[0])))
    described = describe_game(rules, IN_ENGLISH).board
    picture = game.paint(BoardInput(rules.to_json(position)))
    assert described.height == round(picture.height, 2) or not described.fixed
    names = [one.name for one in described.places]
    assert len(set(names)) == len(names) > 8
    inside = [
        (0 <= one.x <= described.width, 0 <= one.y <= described.height) for one in described.places
    ]
    assert all(all(pair) for pair in inside)
    if described.fixed:
        shown = {
            one.name
            for one in game.text_places(TextInput(rules.to_json(position), rules.displays[0]))
        }
        assert shown == set(names) == places_in(picture).keys()
    assert all(one.line is not None for one in described.places)


def test_places_lie_as_the_board_has_them():
    found = {
        one.name: one
        for one in describe_game(game_by_key("reversi").latest, IN_ENGLISH).board.places
    }
    assert (found["a1"].x, found["a1"].y) == (60, 60)
    assert found["b1"].x - found["a1"].x == found["a2"].y - found["a1"].y == 56
    assert (found["c2"].line, found["c2"].column) == (2, 7)
    moved = describe_game(game_by_key("halves").latest, IN_ENGLISH).board
    assert not moved.fixed


@GAMES
def test_the_examples_of_a_guide_fit_the_pattern(game):
    for line in guide_of(game.key).notation:
        assert game.notation.read(line.move), line.move


def test_words_are_in_the_language_of_the_reader():
    german = describe_game(game_by_key("pow2").latest, wording("de"))
    english = describe_game(game_by_key("pow2").latest, IN_ENGLISH)
    assert german.options[0].title == "Der Beginn" != english.options[0].title
    assert german.moves.parts[1].means == "wohin es geht"
    assert german.moves.pattern == english.moves.pattern
    assert german.schemas == english.schemas


def test_names_become_a_pattern_of_just_these():
    found = one_of(["b2", "a10", "a1", "c.d"])
    assert [name for name in ("a1", "a10", "b2", "c.d", "a", "a2", "cxd", "b") if re.fullmatch(found, name)] == [
        "a1", "a10", "b2", "c.d",
    ]  # fmt: skip
    moves = notation(f"({found})-({found})?", ("from", "where from"), ("to", "where to"))
    assert moves.read("a1-") == {"from": "a1"}
    with pytest.raises(ValueError, match="is not of the form"):
        moves.read("a2-b2")


def test_a_game_of_others_that_declares_nothing_is_described_all_the_same(monkeypatch):
    game = game_by_key("torere")
    bare = GamePackage(game.versions, game.draw, game.paint, game.package)
    monkeypatch.setattr(game_schemas, "game_by_key", lambda _: bare)
    described = describe_game(game.latest, IN_ENGLISH)
    assert described.schemas["position"].keys() == {"$schema", "title"}
    assert schema_of(game, "move").is_valid("anything")
    assert described.moves.parts == ()
    assert [one.line for one in described.board.places] == [None] * 9
