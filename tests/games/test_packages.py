"""What a game needs beside its rules; a game for which something is missing fails here."""

from importlib.resources import files

import pytest

from domain.drawing import draw_text
from domain.fairness import Stream
from domain.rules import all_rules, game_of, pack, rules_id, unpack
from domain.rules.protocol import AnyRules
from tests.golden.make_games import path_of

each_game = pytest.mark.parametrize("rules", all_rules(), ids=rules_id)


def start(rules: AnyRules, players: int) -> object:
    options = rules.read_options(())
    return rules.start(options, players, rules.draw(options, players, Stream(bytes(32), "test/1")))


@each_game
def test_a_game_has_help_in_english_and_german(rules: AnyRules) -> None:
    folder = files(game_of(rules.key).package)
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
        assert unpack(rules_id(rules), pack(position)) == position
        assert len(rules.sides) >= players


@each_game
def test_a_first_move_is_written_as_it_is_read_and_has_no_blanks(rules: AnyRules) -> None:
    position = start(rules, rules.players[0])
    for text in rules.legal_moves(position):
        assert " " not in text
        assert rules.write(rules.check(position, rules.read(text))) == text


def test_keys_are_words_a_player_can_type() -> None:
    assert all(rules.key.isalnum() and rules.key.islower() for rules in all_rules())
