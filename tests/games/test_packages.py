"""What a game needs beside its rules; a game for which something is missing fails here."""

import re
from dataclasses import replace
from importlib.resources import files

import msgspec
import pytest

from domain.drawing import draw_text
from domain.fairness import DrawStream
from domain.game.painter import BoardInput, Picture
from domain.game.protocol import AnyRules
from domain.games.torere.rules import TorereMove, TorerePosition, TorereRules
from domain.rules import (
    GamePackage,
    IllegalMove,
    all_games,
    all_rules,
    game_by_key,
    pack_position,
    rules_id,
    unpack_position,
)
from tests.games.completeness import lacking
from tests.golden.make_games import path_of

each_game = pytest.mark.parametrize("rules", all_rules(), ids=rules_id)


def start(rules: AnyRules, players: int) -> object:
    options = rules.read_options(())
    return rules.start(
        options, players, rules.draw(options, players, DrawStream(bytes(32), "test/1"))
    )


@each_game
def test_a_game_has_help_in_english_and_german(rules: AnyRules) -> None:
    folder = files(game_by_key(rules.key).package)
    pages = [folder.joinpath(f"help{suffix}.txt").read_text("utf-8") for suffix in ("", ".de")]
    assert pages[0] != pages[1]
    for page in pages:
        assert f"{rules.key} challenge" in page
        assert max(map(len, page.splitlines())) <= 78


@each_game
def test_a_game_is_drawn_in_all_its_displays_without_trailing_blanks(rules: AnyRules) -> None:
    for players in rules.players:
        for display in rules.displays:
            drawing = draw_text(
                rules, start(rules, players), display, ("alice", "bob", "carol")[:players]
            )
            assert drawing
            assert all(line == line.rstrip() for line in drawing.split("\n"))


@each_game
def test_a_game_has_recorded_games(rules: AnyRules) -> None:
    recorded = path_of(rules.key).read_text()
    assert recorded.count(f'"{rules_id(rules)}"') >= 20


@each_game
def test_a_position_packs_and_a_side_has_a_name(rules: AnyRules) -> None:
    for players in rules.players:
        position = start(rules, players)
        assert unpack_position(rules_id(rules), pack_position(position)) == position
        assert len(rules.sides) >= players


@each_game
def test_a_first_move_is_written_as_it_is_read_and_has_no_blanks(rules: AnyRules) -> None:
    position = start(rules, rules.players[0])
    for text in rules.legal_moves(position):
        assert " " not in text
        assert rules.write(rules.check(position, rules.read(text))) == text


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.key)
def test_a_game_has_all_that_it_needs(game: GamePackage) -> None:
    assert lacking(game, f"tests.games.{game.key}") == set()


class Forgetful(TorereRules):
    """Mū tōrere with rules that leave things out."""

    def check(self, position: TorerePosition, move: TorereMove) -> TorereMove:
        if self.to_move(position) is None:
            raise IllegalMove("no")
        return super().check(position, move)


TORERE, POW2 = game_by_key("torere"), game_by_key("pow2")
NOTHING = Picture((), 0, (), ())


def misnamed(board: BoardInput) -> Picture:
    """Return the drawing of Mū tōrere with names of places that no move has."""
    found = TORERE.paint(board)
    body = tuple(part.replace('data-place="', 'data-place="p') for part in found.body)
    return msgspec.structs.replace(found, body=body)


def without_looks(board: BoardInput) -> Picture:
    """Return the drawing of Mū tōrere with icons that have no look."""
    found = TORERE.paint(board)
    players = tuple(
        msgspec.structs.replace(player, icon=re.sub('class="icon \\w+', 'class="icon', player.icon))
        for player in found.players
    )
    return msgspec.structs.replace(found, players=players)


UNTITLED = tuple(msgspec.structs.replace(field, title="") for field in POW2.options_form)


@pytest.mark.parametrize(
    ("game", "missing"),
    [
        (replace(TORERE, draw=lambda _: ""), {"text drawing"}),
        (replace(TORERE, paint=lambda _: NOTHING), {"SVG painter", "places of moves"}),
        (replace(TORERE, paint=misnamed), {"places of moves"}),
        (replace(TORERE, paint=without_looks), {"SVG painter"}),
        (replace(TORERE, package="tests"), {"help", "help in German"}),
        (replace(TORERE, package="domain.games.pow2"), {"help", "help in German"}),
        (replace(POW2, options_form=()), {"option form"}),
        (replace(POW2, options_form=POW2.options_form[1:]), {"option form"}),
        (replace(POW2, options_form=game_by_key("goliath").options_form), {"option form"}),
        (replace(POW2, options_form=UNTITLED), {"option form"}),
        (replace(TORERE, versions=(Forgetful(),)), {"illegal-move sentence"}),
    ],
)
def test_what_a_game_lacks_is_noticed(game: GamePackage, missing: set[str]) -> None:
    assert lacking(game, f"tests.games.{game.key}") == missing


def test_a_game_without_tests_and_records_is_noticed() -> None:
    assert lacking(TORERE, "tests.fakes") == {
        "record",
        "reference",
        "board on file",
        "illegal-move sentence",
    }


def test_a_family_of_options_without_recorded_games_is_noticed() -> None:
    assert lacking(game_by_key("one"), "tests.games.two") == {
        "recorded games",
        "illegal-move sentence",
    }


def test_keys_are_words_a_player_can_type() -> None:
    assert all(rules.key.isalnum() and rules.key.islower() for rules in all_rules())
