from email.headerregistry import Address as HeaderAddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Code, Refusal
from infra.people.accounts import read_address, read_addresses

FORBIDDEN = sorted('<>"(),:;\\[]@ \t\r\n\0\x7f\x85é\u200b\u2028\udc80')

# what RFC 5322 calls an atom, and host names, made apart from the code that reads them
ATOMS = st.text("abcXYZ019!#$%&'*+/=?^_`{|}~-", min_size=1, max_size=12)
LABELS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-zA-Z0-9])?", fullmatch=True)
PLAIN = st.builds(
    lambda local, labels, top: f"{'.'.join(local)}@{'.'.join([*labels, top])}",
    st.lists(ATOMS, min_size=1, max_size=4),
    st.lists(LABELS, min_size=1, max_size=6),
    st.sampled_from(["org", "COM", "xn--p1ai", "x1"]),
)


def refused(code, call, *args) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence


def read_or_refuse(text) -> str | None:
    try:
        return read_address(text)
    except Refusal as refusal:
        if refusal.code is not Code.BAD_ADDRESS or not refusal.sentence.isprintable():
            raise
        return None


@given(PLAIN | st.emails())
def test_plain_addresses_are_read_as_they_are_written(text):
    assert read_address(text) == text
    assert HeaderAddress(addr_spec=text).addr_spec == text


@given(st.text() | st.from_regex(r"[a-z\"(<.]{1,9}@[a-z\[\]:.0-9-]{1,9}", fullmatch=True))
def test_what_is_read_as_an_address_is_one_to_a_mail_program_too(text):
    address = read_or_refuse(text)
    assert address is None or address == text == HeaderAddress(addr_spec=text).addr_spec


@given(PLAIN, st.sampled_from(FORBIDDEN), st.data())
def test_one_forbidden_character_anywhere_spoils_an_address(text, spoiler, data):
    place = data.draw(st.integers(0, len(text)))
    refused(Code.BAD_ADDRESS, read_address, text[:place] + spoiler + text[place:])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alice",
        "@example.org",
        "alice@",
        "alice@localhost",
        "alice@example.org.",
        "alice@.example.org",
        "alice@example..org",
        "alice@-example.org",
        "alice@example-.org",
        "alice@exam_ple.org",
        "alice@127.0.0.1",
        "alice@[127.0.0.1]",
        f"alice@{'x' * 64}.org",
        ".alice@example.org",
        "alice.@example.org",
        "al..ice@example.org",
        f"{'x' * 65}@example.org",
        '"alice"@example.org',
        "Alice <alice@example.org>",
        "alice@example.org,bob@example.org",
        "alice@example.org\r\nBcc: bob@example.org",
        "alice@example.org\n",
    ],
)
def test_what_is_no_plain_address_is_refused_with_the_form_asked_for(text):
    assert "name@example.org" in refused(Code.BAD_ADDRESS, read_address, text)


def test_letters_beyond_ascii_are_refused_with_the_way_out():
    for text in ("älice@example.org", "alice@exämple.org"):
        assert "xn--" in refused(Code.BAD_ADDRESS, read_address, text)
    assert read_address("alice@xn--exmple-cua.org") == "alice@xn--exmple-cua.org"


def test_an_address_has_254_characters_at_most():
    domain = ".".join(["x" * 61] * 4)[:-8] + ".example"
    longest = f"{'a' * (253 - len(domain))}@{domain}"
    assert len(read_address(longest)) == 254
    assert "not 255" in refused(Code.BAD_ADDRESS, read_address, f"a{longest}")


def test_the_addresses_of_a_command_are_five_at_most_and_each_another():
    five = [f"alice{n}@example.org" for n in range(5)]
    assert read_addresses(five) == tuple(five)
    assert read_addresses([]) == ()
    assert "at most 5" in refused(Code.BAD_ADDRESS, read_addresses, [*five, "alice@example.org"])
    for twin in ("alice@Example.ORG", "alice@example.org"):
        pair = ["alice@example.org", twin]
        assert "listed twice;" in refused(Code.BAD_ADDRESS, read_addresses, pair)
    assert len(read_addresses(["alice@example.org", "Alice@example.org"])) == 2
