"""Terms of time: words read and written, and each refusal's sentence."""

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.clocks.time_control import (
    TimeControl,
    read_time_control,
    write_time_control,
)
from domain.errors import Code, Refusal
from infra.languages.wording import wording

PAGE = Path(__file__).parents[2] / "docs" / "clocks.md"
BANK = "--bank=A+B, with A from 1 to 3650 and B from 0 to 365"
DAYS = "--days=N, with N from 1 to 365"
KNOWN = "--bank, --days, --forfeittime, --nagtime, --totaltime, --unrated, --weekends"


def refused(*flags):
    with pytest.raises(Refusal) as refusal:
        read_time_control(flags)
    return refusal.value.code, refusal.value.sentence


def terms():
    """Any terms that words can express."""
    banks = st.tuples(st.integers(1, 3650), st.integers(0, 365)) | st.just((0, 0))
    return st.builds(
        lambda bank, **rest: TimeControl(bank=bank[0], increment=bank[1], **rest),
        bank=banks,
        nag=st.integers(0, 365),
        forfeit=st.integers(0, 3650),
        total=st.integers(0, 3650),
        days=st.integers(0, 365),
        weekends=st.booleans(),
        rated=st.booleans(),
    )


def test_without_a_word_a_move_has_21_days_and_a_reminder_after_7():
    assert read_time_control([]) == TimeControl(nag=7, forfeit=21, weekends=True, rated=True)
    assert write_time_control(TimeControl()) == ()


def test_every_option_is_read():
    words = "--nagtime=3 --forfeittime=30 --totaltime=90 --days=5 --bank=10+1 --weekends=off"
    assert read_time_control([*words.split(), "--unrated"]) == TimeControl(
        3, 30, 90, 5, 10, 1, False, False
    )


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--nagtime=0", TimeControl(nag=0)),
        ("--nagtime=365", TimeControl(nag=365)),
        ("--forfeittime=0", TimeControl(forfeit=0)),
        ("--forfeittime=3650", TimeControl(forfeit=3650)),
        ("--totaltime=1", TimeControl(total=1)),
        ("--totaltime=3650", TimeControl(total=3650)),
        ("--days=1", TimeControl(forfeit=0, days=1)),
        ("--days=365", TimeControl(forfeit=0, days=365)),
        ("--bank=1", TimeControl(forfeit=0, bank=1)),
        ("--bank=1+0", TimeControl(forfeit=0, bank=1)),
        ("--bank=3650+365", TimeControl(forfeit=0, bank=3650, increment=365)),
        ("--weekends=on", TimeControl()),
        ("--WeekEnds=off", TimeControl(weekends=False)),
        ("--DAYS=2", TimeControl(forfeit=0, days=2)),
    ],
)
def test_each_range_is_read_to_its_ends_and_names_in_any_letter_case(flag, expected):
    assert read_time_control([flag]) == expected


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--days=0", f"'--days=0' is out of range; write {DAYS}"),
        ("--days=366", f"'--days=366' is out of range; write {DAYS}"),
        ("--days", f"'--days' isn't understood; write {DAYS}"),
        ("--days=", f"'--days=' isn't understood; write {DAYS}"),
        ("--days=x", f"'--days=x' isn't understood; write {DAYS}"),
        ("--days=+3", f"'--days=+3' isn't understood; write {DAYS}"),
        ("--days=03", f"'--days=03' isn't understood; write {DAYS}"),
        ("--days=3.0", f"'--days=3.0' isn't understood; write {DAYS}"),
        ("--days=3\n", f"'--days=3\\n' isn't understood; write {DAYS}"),
        ("--days=٣", f"'--days=٣' isn't understood; write {DAYS}"),
        ("--days=" + "9" * 5000, f"'--days={'9' * 24}' isn't understood; write {DAYS}"),
        (
            "--nagtime=366",
            "'--nagtime=366' is out of range; write --nagtime=N, with N from 0 to 365",
        ),
        (
            "--forfeittime=3651",
            "'--forfeittime=3651' is out of range; write --forfeittime=N, with N from 0 to 3650",
        ),
        (
            "--totaltime=0",
            "'--totaltime=0' is out of range; write --totaltime=N, with N from 1 to 3650",
        ),
        ("--bank=0", f"'--bank=0' is out of range; write {BANK}"),
        ("--bank=3651+1", f"'--bank=3651+1' is out of range; write {BANK}"),
        ("--bank=1+366", f"'--bank=1+366' is out of range; write {BANK}"),
        ("--bank", f"'--bank' isn't understood; write {BANK}"),
        ("--bank=1+", f"'--bank=1+' isn't understood; write {BANK}"),
        ("--bank=1+2+3", f"'--bank=1+2+3' isn't understood; write {BANK}"),
        (
            "--weekends",
            "'--weekends' isn't understood; write --weekends=off or --weekends=on",
        ),
        (
            "--weekends=OFF",
            "'--weekends=OFF' isn't understood; write --weekends=off or --weekends=on",
        ),
        ("--unrated=1", "--unrated takes no value; write it alone"),
        ("--unrated=", "--unrated takes no value; write it alone"),
    ],
)
def test_a_value_that_is_unreadable_or_out_of_range_is_refused_with_the_range(flag, sentence):
    assert refused(flag) == (Code.BAD_OPTION, sentence)


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (["--days=3", "--days=3"], "days"),
        (["--Days=3", "--dAYS=4"], "days"),
        (["--unrated", "--nagtime=1", "--unrated"], "unrated"),
        (["--weekends=on", "--weekends=off"], "weekends"),
        (["--bank=1", "--bank=1+1"], "bank"),
    ],
)
def test_an_option_is_given_once(flags, name):
    assert refused(*flags) == (Code.BAD_OPTION, f"--{name} is given twice; give it once")


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--nagtme=3", "there is no option '--nagtme'; did you mean --nagtime?"),
        ("--FORFEIT=3", "there is no option '--FORFEIT'; did you mean --forfeittime?"),
        ("-days=3", "there is no option '-days'; did you mean --days?"),
        ("days=3", "there is no option 'days'; did you mean --days?"),
        ("--wee\u212aends=off", "there is no option '--wee\u212aends'; did you mean --weekends?"),
        ("--zzz", f"there is no option '--zzz'; the options are {KNOWN}"),
        ("--", f"there is no option '--'; the options are {KNOWN}"),
        ("", f"there is no option ''; the options are {KNOWN}"),
        ("--" + "q" * 5000, f"there is no option '--{'q' * 22}'; the options are {KNOWN}"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_known_one(flag, sentence):
    assert refused(flag) == (Code.UNKNOWN_OPTION, sentence)


def test_the_recorded_words_are_sorted_and_leave_defaults_out():
    words = ["--unrated", "--nagtime=7", "--weekends=off", "--bank=10+0", "--DAYS=3"]
    assert write_time_control(read_time_control(words)) == (
        "--bank=10",
        "--days=3",
        "--unrated",
        "--weekends=off",
    )
    words = ["--totaltime=90", "--forfeittime=0", "--nagtime=0"]
    assert write_time_control(read_time_control(words)) == (
        "--forfeittime=0",
        "--nagtime=0",
        "--totaltime=90",
    )


@pytest.mark.parametrize("own", ["--days=3", "--bank=10", "--bank=10+1"])
def test_the_usual_limit_of_a_turn_holds_beside_days_or_a_bank_only_where_it_is_said(own):
    assert read_time_control([own]).forfeit == 0
    assert read_time_control([own, "--forfeittime=0"]) == read_time_control([own])
    assert read_time_control([own, "--forfeittime=21"]).forfeit == 21
    assert write_time_control(read_time_control([own, "--forfeittime=0"])) == (own,)
    assert write_time_control(read_time_control([own, "--forfeittime=21"])) == (
        own,
        "--forfeittime=21",
    )


def test_the_usual_limit_of_a_turn_holds_beside_a_total():
    assert read_time_control(["--totaltime=90"]).forfeit == 21


@given(terms())
def test_reading_gives_back_what_was_written(agreed):
    assert read_time_control(write_time_control(agreed)) == agreed


@given(st.lists(st.text("-=+daysbnkwefortu0123456789", max_size=14), max_size=3))
def test_whatever_is_given_is_read_or_refused(flags):
    try:
        agreed = read_time_control(flags)
    except Refusal:
        assert refused(*flags)[0] in (Code.UNKNOWN_OPTION, Code.BAD_OPTION)
    else:
        assert read_time_control(write_time_control(agreed)) == agreed


def test_the_page_for_players_names_every_option_with_its_range():
    table = PAGE.read_text().partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"^\| `(--[a-z]+)", table, re.MULTILINE))
    assert named == set(KNOWN.split(", "))
    ranges = re.findall(r"`(--[a-z]+)=N` .* (\d+) to (\d+) \|", table)
    assert len(ranges) == 4
    for option, low, high in ranges:
        edges = int(low) - 1, int(low), int(high), int(high) + 1
        fits = [_is_read(f"{option}={edge}") for edge in edges]
        assert fits == [False, True, True, False]


def _is_read(flag):
    try:
        read_time_control([flag])
    except Refusal:
        return False
    return True


def test_the_recorded_form_of_terms_is_final():
    encoded = msgspec.msgpack.encode(TimeControl(3, 30, 90, 5, 10, 1, False, False))
    assert encoded == bytes.fromhex("98 03 1e 5a 05 0a 01 c2 c2")
    assert msgspec.msgpack.decode(b"\x90", type=TimeControl) == TimeControl()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--dys=3"], "es gibt keine Option '--dys'; ist --days gemeint?"),
        (
            ["--days=0"],
            "'--days=0' ist zu klein oder zu groß; richtig ist --days=N, mit N von 1 bis 365",
        ),
        (
            ["--bank=x"],
            "'--bank=x' ist unklar; richtig ist --bank=A+B, mit A von 1 bis 3650 und B von 0 bis 365",
        ),
        (
            ["--weekends=x"],
            "'--weekends=x' ist unklar; richtig ist --weekends=off oder --weekends=on",
        ),
    ],
)
def test_a_refused_flag_is_explained_in_german(flags, said):
    with pytest.raises(Refusal) as found:
        read_time_control(flags)
    assert found.value.in_language(wording("de")) == said
