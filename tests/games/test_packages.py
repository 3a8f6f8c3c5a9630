"""What a game needs beside its rules; a game for which something is missing fails here."""

import re
from dataclasses import replace

import msgspec
import pytest

from domain.game.painter import BoardInput, Picture
from domain.games.torere.rules import TorereMove, TorerePosition, TorereRules
from domain.rules import (
    GamePackage,
    IllegalMove,
    all_games,
    game_by_key,
)
from tests.games.completeness import lacking


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
