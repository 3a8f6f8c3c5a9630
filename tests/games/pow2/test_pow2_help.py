"""What the help page of the Power of Two shows and says is what the rules do."""

import re
from pathlib import Path

from domain.drawing import draw_text
from domain.games.pow2.rules import Pow2Start
from domain.rules import latest_rules

PAGE = (Path(__file__).parents[3] / "domain/games/pow2/help.txt").read_text()
RULES = latest_rules("pow2")


def played(*texts):
    at = RULES.start(RULES.read_options([]), 2, None)
    for text in texts:
        at = RULES.play(at, RULES.check(at, RULES.read(text)))
    return at


def test_the_page_is_plain_text_of_at_most_78_columns():
    assert PAGE.isascii()
    assert all(len(line) <= 78 and line == line.rstrip() for line in PAGE.splitlines())


def test_the_boards_on_the_page_are_the_drawn_ones():
    assert draw_text(RULES, played(), "large") in PAGE
    assert draw_text(RULES, played("m13-m5:l4", "a13-c11"), "small") in PAGE


def test_the_moves_of_the_example_are_all_there_are():
    texts = list(RULES.legal_moves(played("m13-m5:l4", "a13-c11")))
    assert [text for text in texts if text.startswith("l4-k3")] == ["l4-k3:j2", "l4-k3:l4"]
    after = RULES.to_json(played("m13-m5:l4", "a13-c11", "l4-k3:j2"))
    assert "m1" not in after["board"]


def test_every_move_on_the_page_is_canonical_notation():
    for text in re.findall(r"\b[a-m]\d+-[a-m]\d+(?::[a-m]\d+(?:,[a-m]\d+)*)?", PAGE):
        if not text.startswith("a1-d3"):  # quoted as the error it is
            assert RULES.write(RULES.read(text)) == text


def test_every_option_is_explained():
    for flag in ("exact", "noborder", *(start for start in Pow2Start if start)):
        assert re.search(rf"^  -{flag}  ", PAGE, re.MULTILINE)
