"""What a game needs beside what `domain.rules.laws` asks for; a game for which something is missing fails here."""

import json
import re
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec

import msgspec
import pytest

from domain.rules import all_games, game_by_key, laws, rules_id
from tests.golden.make_games import GAMES

SCRIPT = files("services.http.web").joinpath("static/notation.js").read_text("utf-8")


def lacking(game, tests):
    """Return what a game lacks; `tests` is the package of its tests, such as `tests.games.pow2`."""
    pages = [files(game.package).joinpath(f"help{one}.txt") for one in ("", ".de")]
    texts = [page.read_text("utf-8") if page.is_file() else "" for page in pages]
    found = {
        "help": all(f"{game.key} challenge" in text for text in texts),
        "help in both languages": texts[0] != texts[1],
        "help of 78 columns": max(map(len, "\n".join(texts).splitlines()), default=0) <= 78,
        "option form": all(
            text
            for one in game.options_form
            for text in (one.title, *(pick.label for pick in one.picks))
        ),
        "record": find_spec(f"{tests}.record") is not None,
        "reference": find_spec(f"{tests}.reference") is not None,
        "board on file": files(tests).joinpath("board.svg").is_file(),
    }
    missing = {name for name, there in found.items() if not there}
    if found["record"] and not recorded(game, tests):
        missing.add("recorded games")
    return missing


def recorded(game, tests):
    """Return whether all games of each family are recorded by the newest rules."""
    path, name = files(tests).joinpath("games.json"), rules_id(game.latest)
    games = json.loads(path.read_text("utf-8")) if path.is_file() else []
    counts = [
        sum((one["rules"], one["family"]) == (name, f"{players} {flags}".strip()) for one in games)
        for players, flags in import_module(f"{tests}.record").FAMILIES
    ]
    return set(counts) == {GAMES}


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.key)
def test_a_game_has_all_that_it_needs(game):
    assert lacking(game, f"tests.games.{game.key}") == set()


TORERE, POW2 = game_by_key("torere"), game_by_key("pow2")
UNTITLED_POW2 = replace(
    POW2, options_form=tuple(msgspec.structs.replace(one, title="") for one in POW2.options_form)
)


@pytest.mark.parametrize(
    ("game", "tests", "missing"),
    [
        (replace(TORERE, package="tests"), "torere", {"help", "help in both languages"}),
        (replace(TORERE, package="domain.games.pow2"), "torere", {"help"}),
        (UNTITLED_POW2, "pow2", {"option form"}),
        (TORERE, "go", {"recorded games"}),
        (TORERE, "", {"record", "reference", "board on file"}),
    ],
)
def test_what_a_game_lacks_is_noticed(game, tests, missing):
    assert lacking(game, f"tests.games.{tests}".rstrip(".")) == missing


def test_pages_find_the_places_of_a_move_as_the_laws_do():
    assert re.search(r"PLACE = /(.+)/g;", SCRIPT)[1] == laws.PLACE.pattern
