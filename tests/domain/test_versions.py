"""A second version of a game lives beside the first, and each match keeps its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from domain.errors import Code, Refusal
from domain.game.protocol import IllegalMove
from domain.games.line.rules import Intersection, LinePosition, LineRules
from domain.rules import (
    MissingRules,
    Registry,
    game_by_key,
    latest_rules,
    rules_id,
)

GAMES = Path(__file__).parents[1] / "games"


class LineWithoutCorners(LineRules):
    """That's My Line as it might be changed one day: nobody may begin on a corner."""

    version = 2

    def check(self, position: LinePosition, move: Intersection) -> Intersection:
        if (
            not position.light
            and not position.dark
            and self.write(move) in ["a1", "a13", "m1", "m13"]
        ):
            raise IllegalMove(f"{self.write(move)}: nobody begins on a corner")
        return super().check(position, move)


LINE = game_by_key("line")
BOTH = Registry(["line"], lambda _: replace(LINE, versions=(*LINE.versions, LineWithoutCorners())))


def refusal(registry: Registry, name: str, move: str) -> str:
    rules = registry.rules_by_id(name)
    position = rules.start(rules.read_options(()), 2, None)
    try:
        rules.check(position, rules.read(move))
    except Refusal as reason:
        return reason.sentence
    return ""


def test_new_matches_get_the_new_version_and_old_ones_keep_theirs() -> None:
    assert rules_id(BOTH.latest_rules("line")) == "line/2"
    assert rules_id(latest_rules("line")) == "line/1"
    assert refusal(BOTH, "line/2", "a1") == "a1: nobody begins on a corner"
    assert refusal(BOTH, "line/1", "a1") == ""


def test_a_version_that_is_not_installed_stands_for_itself_and_refuses_to_be_played():
    missing = BOTH.rules_by_id("line/3")
    assert isinstance(missing, MissingRules)
    assert (missing.key, missing.version, missing.title) == ("line", 3, "line (not installed)")
    with pytest.raises(Refusal, match="there are no rules 'line/3' on this server") as refused:
        missing.start(None, 2, None)
    assert refused.value.code == Code.UNKNOWN_RULES
    with pytest.raises(Refusal, match="'line/three'; known are line/1, line/2"):
        BOTH.rules_by_id("line/three")
