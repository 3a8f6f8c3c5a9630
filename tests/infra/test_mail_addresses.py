import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.mail.addresses import CodeReply, LostKeyError, SeatClaim, ServerAddresses, read_secret

ALICE, BOB = b"alice...", b"bob....."
OURS = ServerAddresses(bytes(32), "play.example.org")
THEIRS = ServerAddresses(bytes(31) + b"1", "play.example.org")

boards = st.integers(1, 10**15 - 1)
seats = st.integers(0, 9)
accounts = st.binary(min_size=8, max_size=8)


def claim_of(address: str) -> SeatClaim:
    claim = OURS.read(address)
    assert claim is not None
    return claim


@given(boards, seats, accounts)
def test_the_address_of_a_seat_is_read_in_any_case_and_proves_its_account(board, seat, account):
    address = OURS.of(board, seat, account)
    for written in (address, address.upper(), address.title()):
        claim = claim_of(written)
        assert (claim.board, claim.seat) == (board, seat)
        assert OURS.proves(claim, account)


def test_the_address_of_a_seat_has_128_bits_that_nobody_can_guess():
    local, _, domain = OURS.of(12, 1, ALICE).partition("@")
    assert domain == "play.example.org"
    assert local.startswith("m12-s1-")
    assert len(local.removeprefix("m12-s1-")) == 26
    assert len(OURS.of(10**15 - 1, 9, ALICE).partition("@")[0]) <= 64


def test_no_other_seat_match_account_or_secret_is_proven():
    claim = claim_of(OURS.of(12, 1, ALICE))
    assert not OURS.proves(claim, BOB)
    assert not THEIRS.proves(claim, ALICE)
    assert not OURS.proves(SeatClaim(13, 1, claim.mac), ALICE)
    assert not OURS.proves(SeatClaim(12, 0, claim.mac), ALICE)
    assert not OURS.proves(claim, ALICE, 1)
    assert OURS.proves(claim_of(OURS.of(12, 1, ALICE, 1)), ALICE, 1)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "matchpost@play.example.org",
        "m12-s1-@play.example.org",
        f"m0-s1-{'a' * 26}@play.example.org",
        f"m12-s1-{'a' * 25}@play.example.org",
        f"m12-s1-{'a' * 27}@play.example.org",
        f"m12-s1-{'a' * 26}",
        f"m12-s1-{'a' * 26}@elsewhere.example.org",
        f"m12-s1-{'a' * 26}\n@play.example.org",
        f"m\u0661\u0662-s1-{'a' * 26}@play.example.org",
        "m12-s1-\udc80@play.example.org",
    ],
)
def test_what_is_no_address_of_a_seat_claims_nothing(address):
    assert OURS.read(address) is None
    assert OURS.read_signoff(address) is None
    assert OURS.read_bounce(address) is None
    assert OURS.read_code(address) is None


@given(st.text())
def test_any_text_can_be_read(text):
    for read in (OURS.read, OURS.read_signoff, OURS.read_bounce, OURS.read_code):
        assert read(f"{text}@play.example.org") is None
    assert not OURS.is_bounce_of(text, ALICE, "a@b.example")


def test_a_signoff_is_for_one_account_and_only_ours():
    assert OURS.read_signoff(OURS.signoff(ALICE).upper()) == ALICE
    assert THEIRS.read_signoff(OURS.signoff(ALICE)) is None
    forged = OURS.signoff(ALICE).replace(ALICE.hex(), BOB.hex())
    assert OURS.read_signoff(forged) is None


def test_what_comes_back_tells_which_address_of_which_account_it_was_sent_to():
    back = OURS.bounce(ALICE, "alice@Example.org")
    assert OURS.read_bounce(back.upper()) == ALICE
    assert OURS.is_bounce_of(back.upper(), ALICE, "alice@example.ORG")
    assert not OURS.is_bounce_of(back, ALICE, "Alice@example.org")
    assert not OURS.is_bounce_of(back, BOB, "alice@example.org")
    assert not THEIRS.is_bounce_of(back, ALICE, "alice@example.org")


def test_an_address_for_one_purpose_is_none_for_another():
    assert OURS.read_bounce(OURS.signoff(ALICE)) is None
    assert OURS.read_signoff(OURS.bounce(ALICE, "a@b.example")) is None
    mac = OURS.signoff(ALICE).partition("@")[0][-26:]
    assert not OURS.is_bounce_of(f"bounce-{ALICE.hex()}-{mac}@play.example.org", ALICE, "")


def test_a_code_is_given_back_by_answering_to_it():
    assert OURS.read_code(OURS.code(ALICE, "abcdefgh23").upper()) == CodeReply(ALICE, "abcdefgh23")


def test_the_same_letter_has_the_same_mark_and_other_data_another():
    assert OURS.mark(12, 7, "x") == OURS.mark(12, 7, "x")
    assert len({OURS.mark(12, 7), OURS.mark(12, 8), THEIRS.mark(12, 7)}) == 3


def test_the_secret_is_made_once_for_its_owner_alone_to_read(tmp_path: Path):
    file = tmp_path / "data" / "mail-key"
    secret = read_secret(file)
    assert len(secret) == 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_secret(file) == secret
    assert [one.name for one in file.parent.iterdir()] == ["mail-key"]


def test_processes_that_come_at_once_have_the_same_secret(tmp_path: Path):
    file = tmp_path / "mail-key"
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(read_secret, [file] * 64))) == 1


def test_a_file_that_is_cut_is_refused_and_not_replaced(tmp_path: Path):
    file = tmp_path / "mail-key"
    file.write_bytes(b"short")
    with pytest.raises(LostKeyError, match=r"mail-key has 5 bytes and should have 32; restore"):
        read_secret(file)
    assert file.read_bytes() == b"short"
