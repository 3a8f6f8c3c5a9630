"""Every game is played to its end with the keyboard alone."""

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

pytestmark = [pytest.mark.slow, pytest.mark.long]

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
    ]
    return min(fits, key=lambda one: len(one[1]), default=(SHORT.get(key, []), []))


@pytest.mark.parametrize("key", game_keys())
def test_a_game_is_begun_and_ended_with_the_keyboard_alone(api, person, key):
    rules = latest_rules(key)
    seats = [api.player() for _ in range(rules.players[0])]
    windows = [person(one) for one in seats]
    options, moves = recorded(key)
    board = api.match(*seats, game=key, options=options)
    for number in range(500):
        state = load_state(api.parts, board)
        if state.over:
            break
        position = position_of(state)
        move = moves[number] if moves else next(iter(rules.legal_moves(position)))
        ends = rules.outcome(rules.play(position, rules.check(position, rules.read(move))))
        mover = state.next
        assert mover is not None
        if number and not ends:
            assert seats[mover].move(board, move).status_code == 200, move
            continue
        page = windows[mover].goes_to(f"/m/{board}")
        play_by_keys(page, move)
        if ends:
            expect(page.locator("#builder")).to_have_count(0)
    assert load_state(api.parts, board).over
