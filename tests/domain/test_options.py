"""Option flags: read leniently in the hyphen, refused by kind, written in one form."""

from enum import StrEnum
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from domain.game.options import read_options, write_options


class Touch(StrEnum):
    ANY = "touch_any"
    ENEMY = "touch_enemy"


class Start(StrEnum):
    USUAL = ""
    ODD = "odd"
    EVEN = "even"


class Sample(msgspec.Struct, frozen=True):
    """Each kind of flag: alone, with a number, with a list of names, and grouped with a named and
    with an unnamed default."""

    invert: bool = False
    tiles: Annotated[int, msgspec.Meta(ge=2, le=60)] = 12
    touch: Touch = Touch.ENEMY
    start: Start = Start.USUAL
    days: Annotated[
        tuple[str, ...],
        msgspec.Meta(min_length=2, max_length=3, extra={"names": ("mon", "tue", "wed", "thu")}),
    ] = ()


KNOWN = "-days, -even, -invert, -odd, -tiles, -touch_any, -touch_enemy"


def read(*flags):
    return read_options(Sample, flags)


def refused(*flags):
    with pytest.raises(Refusal) as refusal:
        read(*flags)
    return refusal.value.code, refusal.value.sentence


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("-invrt", "there is no option '-invrt'; did you mean -invert?"),
        ("touch_enmy", "there is no option '-touch_enmy'; did you mean -touch_enemy?"),
        ("TILES=3", "there is no option '-TILES'; did you mean -tiles?"),
        ("--odd", "there is no option '--odd'; did you mean -odd?"),
        ("zzz", f"there is no option '-zzz'; the options are {KNOWN}"),
        (["-invert", "invert"], "-invert is given twice; give it once"),
        (["-touch_enemy", "touch_enemy"], "-touch_enemy is given twice; give it once"),
        (["-odd", "-even"], "-odd and -even exclude each other; use only one of them"),
        (["-touch_enemy", "-touch_any"], "-touch_enemy and -touch_any exclude each other; use only one of them"),
        ("-invert=1", "-invert takes no value; write it on its own"),
        ("-odd=yes", "-odd takes no value; write it on its own"),
        ("-tiles", "'-tiles' needs a number: -tiles=N, with N from 2 to 60"),
        ("-tiles=+3", "'-tiles=+3' needs a number: -tiles=N, with N from 2 to 60"),
        ("-tiles=03", "'-tiles=03' needs a number: -tiles=N, with N from 2 to 60"),
        ("-tiles=٣", "'-tiles=٣' needs a number: -tiles=N, with N from 2 to 60"),
        ("-tiles=1", "'-tiles=1' is out of range: -tiles=N, with N from 2 to 60"),
        ("-tiles=61", "'-tiles=61' is out of range: -tiles=N, with N from 2 to 60"),
        ("-days", "'-days' needs names: -days=mon,tue,... with 2 to 3 names"),
        ("-days=", "'-days' needs names: -days=mon,tue,... with 2 to 3 names"),
        ("-days=mon", "-days has 1 names: -days=mon,tue,... with 2 to 3 names"),
        ("-days=mon,tue,wed,thu", "-days has 4 names: -days=mon,tue,... with 2 to 3 names"),
        ("-days=mon,sun", "-days can't name 'sun': -days=mon,tue,... with 2 to 3 names"),
        ("-days=mon,", "-days can't name '': -days=mon,tue,... with 2 to 3 names"),
        ("-days=mon,mon", "-days names mon twice; name it once"),
        ("-days=tue,mon,TUE", "-days names tue twice; name it once"),
    ],
)  # fmt: skip
def test_flags_that_are_unknown_repeated_against_each_other_or_malformed_are_refused(
    flags, sentence
):
    given = [flags] if isinstance(flags, str) else flags
    code = Code.UNKNOWN_OPTION if "there is no option" in sentence else Code.BAD_OPTION
    assert refused(*given) == (code, sentence)


def test_a_strange_letter_is_not_taken_for_the_one_it_lowers_to():
    class Signs(msgspec.Struct, frozen=True):
        of: Annotated[
            tuple[str, ...], msgspec.Meta(min_length=1, max_length=2, extra={"names": ("k", "l")})
        ] = ()

    assert read_options(Signs, ["of=K"]) == Signs(of=("k",))
    with pytest.raises(Refusal, match="can't name '\u212a'"):
        read_options(Signs, ["of=\u212a"])


def test_a_field_that_declares_no_flag_is_a_mistake_of_the_game():
    class Wrong(msgspec.Struct, frozen=True):
        word: str = ""

    with pytest.raises(TypeError, match="'word' declares no flag"):
        read_options(Wrong, [])


@given(
    st.builds(
        Sample,
        invert=st.booleans(),
        tiles=st.integers(2, 60),
        touch=st.sampled_from(Touch),
        start=st.sampled_from(Start),
        days=st.sampled_from([(), ("mon", "tue"), ("tue", "thu"), ("mon", "wed", "thu")]),
    )
)
def test_reading_gives_back_what_was_written(options):
    assert read(*write_options(options)) == options


@given(st.lists(st.text("-=invertldsouch_any0123456789", max_size=14), max_size=3))
def test_whatever_is_given_is_read_or_refused(flags):
    try:
        options = read(*flags)
    except Refusal:
        assert refused(*flags)[0] in (Code.UNKNOWN_OPTION, Code.BAD_OPTION)
    else:
        assert read(*write_options(options)) == options
