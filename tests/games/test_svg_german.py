"""The words of drawings in German: the shapes are the same as in English."""

import re

import pytest

from domain.drawing import draw_svg
from domain.game.protocol import GameOutcome
from domain.rules import latest_rules, rules_by_id
from domain.sentences import text_in
from infra.languages.wording import wording
from tests.games.test_svg import NAMES, each_family, parsed, positions, with_class, words


def in_german(rules, at, names=(), **more):
    return parsed(rules, at, names, language=wording("de"), **more)


@each_family
def test_the_turn_and_the_sides_are_in_german(game):
    rules, names = rules_by_id(game["rules"]), NAMES[: game["players"]]
    for at in positions(game):
        seat = rules.to_move(at)
        title, description = words(in_german(rules, at, names))
        assert title.startswith(f"{rules.title}: alice ({text_in(rules.sides[0], wording('de'))})")
        if seat is not None:
            side = text_in(rules.sides[seat], wording("de"))
            assert description.startswith(f"{names[seat]} ({side}) ist am Zug.")


@each_family
def test_only_words_differ_between_the_languages(game):
    rules, names = rules_by_id(game["rules"]), NAMES[: game["players"]]
    for at in positions(game):
        english, german = (
            re.sub(
                r">[^<>]+<| textLength=\S+ lengthAdjust=\S+\"",
                "",
                draw_svg(rules, at, names, language=wording(language)),
            )
            for language in ("en", "de")
        )
        assert english == german


@pytest.mark.parametrize(
    ("winners", "tags"), [((1,), ["Sieg"]), ((0, 1), ["Remis", "Remis"]), ((), [])]
)
def test_the_tags_of_the_plates_are_in_german(winners, tags):
    rules = latest_rules("pow2")
    at = rules.start(rules.read_options(()), 2, None)
    tree = in_german(rules, at, ended=GameOutcome(winners, "agreed", "Ende"))
    assert [each.text for each in with_class(tree, "tag-words")] == tags
