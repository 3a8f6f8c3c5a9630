"""The texts of tokens: what is one, and what is none."""

import re
import string
from hashlib import sha256

from hypothesis import assume, example, given
from hypothesis import strategies as st

from domain.errors import Code
from infra.people.tokens import LENGTH, digest_of
from infra.people.tokens.tokens import make_token
from tests.helpers.examples import refused

ALPHABET = string.ascii_letters + string.digits + "-_"


def test_a_token_is_a_prefix_and_49_characters_that_need_no_quoting():
    assert re.fullmatch(r"mp_[A-Za-z0-9_-]{49}", make_token())
    assert len(make_token()) == LENGTH


def test_no_two_tokens_are_alike():
    assert len({make_token() for _ in range(1000)}) == 1000


def test_what_is_parsed_is_known_by_the_hash_of_all_its_characters():
    text = make_token()
    assert digest_of(text) == sha256(text.encode()).digest()


@given(st.integers(0, LENGTH - 1), st.sampled_from(ALPHABET + " é\n."))
def test_a_token_with_one_wrong_character_is_no_token(place, character):
    text = make_token()
    assume(text[place] != character)
    refused(Code.UNKNOWN_TOKEN, digest_of, f"{text[:place]}{character}{text[place + 1 :]}")


@given(st.integers(0, LENGTH - 2))
def test_a_token_with_two_neighbours_exchanged_is_no_token(place):
    text = make_token()
    assume(text[place] != text[place + 1])
    other = f"{text[:place]}{text[place + 1]}{text[place]}{text[place + 2 :]}"
    refused(Code.UNKNOWN_TOKEN, digest_of, other)


@given(st.integers(0, LENGTH - 1))
def test_a_token_that_was_cut_off_is_told_by_its_length(length):
    sentence = refused(Code.UNKNOWN_TOKEN, digest_of, make_token()[:length])
    assert ("begins with mp_" if length < 3 else f"this one {length};") in sentence


@given(st.text())
@example("mp_" + "A" * 49)
@example("mp_" + "\udc80" * 49)
@example("Mp_" + "A" * 49)
def test_any_other_text_is_no_token_and_is_not_repeated(text):
    sentence = refused(Code.UNKNOWN_TOKEN, digest_of, text)
    assert len(text) < 20 or text not in sentence
