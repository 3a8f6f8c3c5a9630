"""Every game is played with the keyboard alone, from its first move to its end."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

import tests.games
from domain.match.state import position_of
from domain.rules import latest_rules, rules_id
from services.app.games import game_keys
from services.app.matches import load_state
from tests.helpers.keyboard import play_by_keys

pytestmark = pytest.mark.slow

FEWEST = 3
"""Moves of a match at least: a puzzle can be handed in with its first."""
LONGEST = 64
"""Characters of an option that the API takes."""

SHORT = {"halves": ["-tiles_each=2"]}
"""Options by which a game whose start is drawn by chance ends soon."""


def recorded(key: str) -> tuple[list[str], list[str]]:
    """Return the options and moves of the shortest recorded game without chance; no moves if none is."""
    games = json.loads(Path(tests.games.__path__[0], key, "games.json").read_text("utf-8"))
    fits = [
        (game["options"], game["moves"].split())
        for game in games
        if game["rules"] == rules_id(latest_rules(key))
        and game["setup"] is None
        and not any(sign in game["moves"] for sign in ("=", "!"))
        and len(game["moves"].split()) >= FEWEST
        and all(len(option) <= LONGEST for option in game["options"])
    ]
    return min(fits, key=lambda one: len(one[1]), default=(SHORT.get(key, []), []))


@pytest.mark.long  # tests/web/test_accessible.py plays a move so
@pytest.mark.parametrize("key", game_keys())
def test_a_game_is_played_to_its_end_with_the_keyboard_alone(api, person, key):
    rules = latest_rules(key)
    seats = [api.player() for _ in range(rules.players[0])]
    options, moves = recorded(key)
    board = api.begun(*seats, game=key, options=options)
    pages = [person(one).goes_to(f"/m/{board}") for one in seats]
    for number in range(500):
        state = load_state(api.parts, board)
        if state.over:
            break
        move = moves[number] if moves else next(iter(rules.legal_moves(position_of(state))))
        assert state.next is not None
        # each player is at one page all the time, the second one at its list of choices
        play_by_keys(pages[state.next], move, listed=len(seats) == 1 or state.next == 1)
    assert load_state(api.parts, board).over
    for page in pages:
        expect(page.locator("#builder")).to_have_count(0)
