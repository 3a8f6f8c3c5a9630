"""Second factors in the record of an account: codes of apps, recovery codes, and how the secret is kept."""

import base64

import pytest
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import second_factors
from infra.people.accounts.record import Account, Passkey
from infra.people.accounts.second_factors import STEP_MS, app_code, step_of_code, with_code_used
from infra.people.login_steps import STEP_SECONDS, LoginStep, LoginSteps, step_key

SECRET = b"12345678901234567890"
"""That of RFC 6238."""
ACCOUNT = bytes(8)
KEY = Passkey(b"id", b"data", "Firefox", 1)
NOBODY = Account(name="ann", created=1, password="hash")


@pytest.fixture
def macs(tmp_path) -> AccountMacs:
    make_mac_key(tmp_path)
    return AccountMacs(tmp_path)


def test_codes_are_those_of_the_standard_and_taken_for_half_a_minute_before_and_after():
    for second, code in (
        *((59, "287082"), (1111111109, "081804")),
        *((1234567890, "005924"), (20000000000, "353130")),
    ):
        assert app_code(SECRET, second // 30) == code
        assert step_of_code(SECRET, f" {code[:3]} {code[3:]}", second * 1000) == second // 30
    at = 1000
    codes = {step: app_code(SECRET, step) for step in range(at - 3, at + 4)}
    taken = [step for step, code in codes.items() if step_of_code(SECRET, code, at * STEP_MS)]
    assert taken == [at - 1, at, at + 1]
    assert step_of_code(SECRET, app_code(SECRET, at), at * STEP_MS, after=at) is None
    assert step_of_code(SECRET, "١٢٣٤٥٦", at * STEP_MS) is None


def test_each_code_of_an_app_and_each_recovery_code_is_used_once(macs):
    codes = second_factors.new_recovery_codes()
    assert len(set(codes)) == 10
    now = 1000 * STEP_MS
    record = replace(
        NOBODY,
        totp=second_factors.seal(macs, ACCOUNT, SECRET),
        recovery=second_factors.digests(codes),
    )
    code = app_code(SECRET, 1000)
    used = with_code_used(macs, ACCOUNT, record, code, now)
    assert used is not None
    assert with_code_used(macs, ACCOUNT, used, code, now) is None
    # typed without its hyphens, and in capitals
    again = with_code_used(macs, ACCOUNT, used, codes[3].replace("-", "").upper(), now)
    assert again is not None
    assert len(again.recovery) == 9
    assert with_code_used(macs, ACCOUNT, again, codes[3], now) is None
    assert with_code_used(macs, ACCOUNT, NOBODY, "000000", now) is None


def test_a_secret_is_read_with_the_key_of_its_server_and_account_alone(macs, tmp_path):
    sealed = second_factors.seal(macs, ACCOUNT, SECRET)
    assert SECRET not in sealed
    assert base64.b32encode(SECRET) not in sealed
    assert second_factors.unseal(macs, ACCOUNT, sealed) == SECRET
    (tmp_path / "other").mkdir()
    make_mac_key(tmp_path / "other")
    for other, account in (
        (AccountMacs(tmp_path / "other"), ACCOUNT),
        (AccountMacs(), ACCOUNT),
        (macs, bytes(7) + b"x"),
    ):
        with pytest.raises(Refusal) as refused:
            second_factors.unseal(other, account, sealed)
        assert refused.value.code == Code.UNAVAILABLE
    unkeyed = second_factors.seal(AccountMacs(), ACCOUNT, SECRET)
    assert second_factors.unseal(macs, ACCOUNT, unkeyed) == SECRET


def test_recovery_codes_go_with_the_last_factor_but_not_when_access_ends():
    whole = replace(NOBODY, totp=b"x", passkeys=(KEY,), recovery=(b"y",))
    ended = second_factors.without_passkeys(replace(whole, totp=b""))
    assert (ended.passkeys, ended.recovery) == ((), (b"y",))
    assert ended.needs_code
    assert not second_factors.without_idle_codes(ended).needs_code
    assert second_factors.without_idle_codes(whole) == whole
    assert second_factors.without_factors(whole) == NOBODY


def test_a_step_is_taken_once_by_its_browser_for_its_purpose(client):
    steps = LoginSteps(client)
    step = LoginStep(kind="login", browser=b"one", account=ACCOUNT)
    text = steps.add(step)
    assert steps.take(text, "login", b"two") is None
    assert steps.take(text, "passkey", b"one") is None
    assert steps.take(text[:-1], "login", b"one") is None
    assert steps.read(text, "login", b"one") == step
    (name,) = client.keys("{step:*")
    assert 0 < client.ttl(name) <= STEP_SECONDS
    assert text.encode() not in client.get(name) + name
    assert steps.take(text, "login", b"one") == step
    assert steps.take(text, "login", b"one") is None
    assert name.decode() != step_key(bytes(32))
