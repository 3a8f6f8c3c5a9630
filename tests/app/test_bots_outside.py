"""Bots where programs read: their matches in lines, feeds and game texts, and what a bot's token opens for nobody."""

import json
from collections.abc import Iterator

import feedparser
import pytest

from domain.match.game_text import read_game_text
from services.app.acts import TERMINAL
from services.app.games_off import switch_games
from tests.app.test_bots import bot_of, start, why
from tests.helpers.api import Api, until


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("outside"), site="https://play.example", hooks="on") as api:
        yield api


def test_a_match_with_a_bot_is_in_its_lines_its_feed_and_its_game_text(api):
    owner, guest = api.player(), api.player()
    bot = bot_of(api, owner)
    board = start(guest, bot).json()["board"]
    assert bot.give(board, {"do": "accept"}).is_success
    assert guest.give(board, {"do": "resign"}).is_success

    def lines() -> list[str]:
        return api.http.get(f"/api/players/{bot.name}/matches.ndjson").text.splitlines()

    until(lambda: len(lines()) == 1)
    (line,) = map(json.loads, lines())
    assert {guest.name, bot.name} <= set(line["players"])
    api.caught_up()
    found = feedparser.parse(api.http.get(f"/players/{bot.name}/feed?lang=en").content)
    assert bot.name in found.entries[0].title
    text = read_game_text(api.http.get(f"/api/matches/{board}/game.txt").content)
    assert text.headers.players == (guest.name, bot.name)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/webhooks", {"address": "https://example.org/", "topics": ["turn"], "label": "x"}),
        ("/api/account/calendar", {}),
        ("/api/account/bots", {"userid": "bot-of-a-bot"}),
        (
            "/api/apps",
            {
                "name": "x",
                "site": "https://example.org",
                "redirect_uris": ["https://example.org/back"],
            },
        ),
    ],
)
def test_a_bots_token_opens_nothing_of_an_account(api, path, body):
    bot = bot_of(api, api.player())
    assert why(bot.post(path, body)).startswith("missing-scope: ")


def test_a_game_that_is_off_is_off_for_bots_too(api):
    owner, guest = api.player(), api.player()
    bot = bot_of(api, owner)
    switch_games(api.parts, off=["goliath"], on=[], by=TERMINAL)
    try:
        assert why(start(guest, bot, game="goliath")).startswith("game-off: ")
        assert start(guest, bot).is_success
    finally:
        switch_games(api.parts, off=[], on=["goliath"], by=TERMINAL)
