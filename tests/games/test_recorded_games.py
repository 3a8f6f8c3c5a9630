"""Whole games on record are replayed by the rules of their version, every position compared."""

from collections import Counter

import pytest

from domain.rules import all_rules, rules_by_id, rules_id
from tests.golden.make_games import GAMES, digest, read_games, record_of, replay, result

KEYS = sorted({rules.key for rules in all_rules()})
FAMILY_GAMES = [
    pytest.param([game for game in games if game["family"] == family], id=f"{key} {family}")
    for key in KEYS
    for games in [read_games(key)]
    for family in dict.fromkeys(game["family"] for game in games)
]


@pytest.mark.parametrize("games", FAMILY_GAMES)
def test_a_recorded_game_replays_to_the_same_positions_and_the_same_end(games):
    for game in games:
        rules = rules_by_id(game["rules"])
        positions = list(replay(game))
        digests = [digest(rules, at) for at in positions]
        assert digests == game["digests"].split(), (game["family"], game["number"])
        assert all(rules.outcome(at) is None for at in positions[:-1])
        # as JSON has lists where an outcome has tuples
        ending = result(game, positions[-1])
        assert ending | {"winners": list(ending["winners"])} == game["result"]


@pytest.mark.parametrize("key", KEYS)
def test_every_family_of_options_has_its_games_on_record(key):
    recorded = Counter((game["rules"], game["family"]) for game in read_games(key))
    for name in {rules_id(rules) for rules in all_rules() if rules.key == key}:
        for players, flags in record_of(key).FAMILIES:
            assert recorded[name, f"{players} {flags}".strip()] == GAMES


@pytest.mark.parametrize("key", KEYS)
def test_recorded_options_and_moves_are_in_their_canonical_form(key):
    for game in read_games(key):
        rules = rules_by_id(game["rules"])
        assert rules.write_options(rules.read_options(game["options"])) == tuple(game["options"])
        for text in game["moves"].split():
            if not text.endswith("!") and not text.startswith("out="):
                assert rules.write(rules.read(text)) == text
