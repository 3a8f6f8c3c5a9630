"""Time controls in words, in each language, and as the page for players has them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clocks.time_control import TimeControl, read_time_control
from infra.languages.wording import wording
from services.words.agreements import described, limits

PAGE = Path(__file__).parents[2] / "docs" / "clocks.md"

SAID = {
    "": ("21 days a move, a reminder after 7", "21 Tage je Zug, Erinnerung nach 7 Tagen"),
    "--days=1": ("1 day a move", "1 Tag je Zug"),
    "--days=30 --forfeittime=21": (
        "21 days a move, a reminder after 7",
        "21 Tage je Zug, Erinnerung nach 7 Tagen",
    ),
    "--days=3 --nagtime=1": (
        "3 days a move, a reminder after 1",
        "3 Tage je Zug, Erinnerung nach 1 Tag",
    ),
    "--days=3 --nagtime=3": ("3 days a move", "3 Tage je Zug"),
    "--nagtime=0 --bank=10+1 --weekends=off --unrated": (
        "10 days in total, plus 1 per move, clock stops at weekends, unrated",
        "ein Zeitkonto von 10 Tagen, und mit jedem Zug 1 dazu, die Uhr steht am Wochenende, ohne Wertung",
    ),
    "--bank=10": (
        "10 days in total, a reminder after 7 days",
        "ein Zeitkonto von 10 Tagen, Erinnerung nach 7 Tagen",
    ),
    "--bank=7": ("7 days in total", "ein Zeitkonto von 7 Tagen"),
    "--bank=30 --totaltime=90 --nagtime=1 --forfeittime=21": (
        "21 days a move, 30 days in total, 90 days in all, a reminder after 1 day",
        "21 Tage je Zug, ein Zeitkonto von 30 Tagen, 90 Tage im Ganzen, Erinnerung nach 1 Tag",
    ),
    "--forfeittime=0": (
        "no time limit, a reminder after 7 days",
        "ohne Zeitgrenze, Erinnerung nach 7 Tagen",
    ),
}


def terms() -> st.SearchStrategy[TimeControl]:
    """Any terms that flags can express."""
    return st.builds(
        TimeControl,
        bank=st.integers(0, 3650),
        increment=st.integers(0, 365),
        nag=st.integers(0, 365),
        forfeit=st.integers(0, 3650),
        total=st.integers(0, 3650),
        days=st.integers(0, 365),
    )


@pytest.mark.parametrize("flags", SAID)
def test_a_time_control_is_described_in_one_line_in_each_language(flags: str) -> None:
    agreed = read_time_control(flags.split())
    assert [described(agreed, wording(one)) for one in ("en", "de")] == list(SAID[flags])


def test_pages_leave_the_reminder_out() -> None:
    assert limits(read_time_control([]), wording("en")) == "21 days a move"
    assert limits(None, wording("en")) == ""


@given(terms(), st.sampled_from(["en", "de"]))
def test_every_description_is_one_plain_line(agreed: TimeControl, language: str) -> None:
    line = described(agreed, wording(language))
    assert line.isprintable()
    assert 0 < len(line) < 200


def test_the_page_for_players_describes_terms_as_they_are() -> None:
    table = PAGE.read_text().partition("described as |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (?:`(.*)` )?\| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 9
    for flags, line in rows:
        assert described(read_time_control(flags.split()), wording("en")) == line
