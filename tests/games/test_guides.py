"""The guides of the games: each picture is a real position, and shows what its caption says."""

import re
from importlib.resources import files

import pytest

from domain.drawing import illustrate
from domain.game.painter import WIDTH
from domain.game.protocol import GamePart, game_context
from domain.rules import game_by_key, latest_rules
from domain.rules.guide import GameGuide, next_places, reach_position, read_guide
from infra.languages.wording import wording
from services.app.games import game_keys
from tests.helpers.catalogues import guide_texts

KEYS = game_keys()
PLACE = re.compile(r"\b[a-m]1?\d\b")


def guide_of(key: str) -> GameGuide:
    return read_guide(files(game_by_key(key).package).joinpath("guide.toml").read_text("utf-8"))


def texts_of(key: str) -> list[tuple[str, str]]:
    """Return the texts of a guide, each with its German words."""
    german, context = wording("de"), game_context(key, GamePart.GUIDE)
    return [(text, german.pgettext(context, text)) for text in guide_texts(guide_of(key))]


@pytest.mark.parametrize("key", KEYS)
class TestGuide:
    def test_all_texts_are_there_in_both_languages(self, key):
        for english, german in texts_of(key):
            assert english != german
            assert not re.search(r"\b(Ihnen|Ihre[mnrs]?)\b", german), german

    def test_both_languages_name_the_same_places(self, key):
        for english, german in texts_of(key):
            assert set(PLACE.findall(english)) == set(PLACE.findall(german)), english

    def test_four_pictures_at_least_have_names_of_their_own_and_short_captions(self, key):
        guide = guide_of(key)
        names = [picture.name for picture in guide.pictures]
        assert len(names) >= 4
        assert len(set(names)) == len(names)
        assert guide.picture(guide.card)
        for picture in guide.pictures:
            assert picture.caption.count(". ") == 0
            assert picture.caption.endswith((".", "?"))
            assert len(picture.caption) <= 160

    def test_each_picture_is_drawn_from_canonical_moves_with_what_is_marked(self, key):
        rules = latest_rules(key)
        for picture in guide_of(key).pictures:
            position, before, last = reach_position(rules, picture)
            for text in picture.moves.split():
                assert rules.write(rules.read(text)) == text
            assert last == (picture.moves.split() or [""])[-1]
            targets = next_places(rules, position, picture.chosen)
            drawn = illustrate(
                rules, position, last=last, before=before, chosen=picture.chosen, targets=targets
            )
            assert drawn.count('class="chosen') == len(picture.chosen)
            assert drawn.count('class="target') == len(targets)
            assert f'viewBox="0 0 {WIDTH} ' in drawn
            assert len(drawn) <= 48_000

    def test_each_example_of_the_notation_is_read(self, key):
        rules = latest_rules(key)
        for line in guide_of(key).notation:
            assert rules.write(rules.read(line.move)) == line.move


@pytest.mark.parametrize(
    ("key", "name", "winners"),
    [
        ("pow2", "won", (0,)),
        ("goliath", "won", (1,)),
        ("line", "end", (1,)),
        ("torere", "won", (0,)),
        ("halves", "end", (1,)),
        ("powerdrain", "end", (1,)),
    ],
)
def test_the_last_picture_of_a_game_is_won(key, name, winners):
    guide, rules = guide_of(key), latest_rules(key)
    assert guide.pictures[-1].name == name
    outcome = rules.outcome(reach_position(rules, guide.pictures[-1]).position)
    assert outcome
    assert outcome.winners == winners


@pytest.mark.parametrize(
    ("key", "name", "detail"),
    [
        ("one", "stone", "3 lines with exactly one stone, by 1 stone"),
        ("one", "over", "14 lines with exactly one stone, by 4 stones"),
        ("one", "eight", "32 lines with exactly one stone, by 8 stones"),
        ("two", "pair", "1 line with exactly two stones, by 2 stones"),
        ("two", "three", "3 lines with exactly two stones, by 3 stones"),
        ("two", "twelve", "30 lines with exactly two stones, by 12 stones"),
        ("duo", "many", "28 stones placed, 14 light and 14 dark"),
        ("jump", "all", "all 32 stones set, 32 left after 0 plies"),
        ("jump", "left", "all 32 stones set, 4 left after 6 plies"),
    ],
)
def test_the_pictures_of_puzzles_have_the_scores_that_they_say(key, name, detail):
    rules, picture = latest_rules(key), guide_of(key).picture(name)
    assert picture
    score = rules.score(reach_position(rules, picture).position)
    assert score
    assert str(score.detail) == detail


def test_a_guide_with_an_unknown_part_is_refused():
    with pytest.raises(ValueError, match="unknown"):
        read_guide('card = "a"\nabout = "a"\nunknown = 1')
