"""The security log: which events have a line, and what a line has of an account and a network."""

import logging
from pathlib import Path

import pytest

from domain.errors import Refusal
from infra.people import rate_limits
from infra.people.account_macs import make_mac_key
from infra.people.accounts import AccountRole, Accounts
from infra.people.rate_limits import LOGGER, NetworkHashes, SecurityEvent, note_security
from infra.people.sessions import Sessions
from infra.people.tokens import Tokens
from tests.fakes.app import CHEAP
from tests.fakes.memory_store import memory_client

NETWORK = "203.0.113.7"
PASSWORD = "mad-hatter"


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch):
    """The lines so far, each as its event and fields; those that were returned are not returned again."""
    # other tests in this process may have used up its lines of this minute, or sent lines to a file
    monkeypatch.setattr(rate_limits, "_BUDGET", rate_limits.LineBudget())
    logger = logging.getLogger(LOGGER)
    monkeypatch.setattr(logger, "propagate", False)
    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    caplog.set_level(logging.INFO, LOGGER)

    def read() -> list[tuple[str, dict]]:
        found = [(one.message, one.fields) for one in caplog.records if one.name == LOGGER]
        caplog.clear()
        return found

    return read


@pytest.fixture
def client():
    return memory_client()


@pytest.fixture
def accounts(client):
    return Accounts(client, CHEAP, password_rate=3)


def test_each_event_of_an_account_has_a_line_with_its_id_only(accounts, client, lines):
    account = accounts.signup("alice", PASSWORD, ["alice@example.org"])
    accounts.verify("alice", PASSWORD)
    accounts.change_addresses_of(account, ["other@example.org"])
    accounts.set_role("alice", AccountRole.ARBITER, held=True)
    accounts.set_role("alice", AccountRole.ARBITER, held=False)
    session = Sessions(client).open(account, "a browser")
    token = Tokens(client).issue(account, "a label", ["play", "read"])
    assert Tokens(client).revoke(account, token.id)
    assert not Tokens(client).revoke(account, token.id)
    accounts.end_access(account)
    accounts.change_password("alice", PASSWORD, "another-secret")
    accounts.delete("alice", "another-secret", lambda _: None)
    found = lines()
    assert all(fields.pop("account") == account.hex() for _, fields in found)
    assert found == [
        ("account-made", {}),
        ("login", {}),
        ("account-changed", {"changed": ["addresses", "mail_turn"]}),
        ("arbiter-made", {}),
        ("arbiter-dismissed", {}),
        ("session-made", {"session": session.id}),
        ("token-made", {"token": token.id, "scopes": ["play", "read"]}),
        ("token-ended", {"token": token.id}),
        ("session-ended", {"session": session.id}),
        ("tokens-ended", {}),
        ("account-changed", {"changed": ["mail_turn"]}),
        # once more, because a passkey could open something until the record was changed
        ("tokens-ended", {}),
        ("tokens-ended", {}),
        ("account-changed", {"changed": ["mail_turn", "password"]}),
        ("tokens-ended", {}),
        ("login", {}),
        ("account-deleted", {}),
    ]
    # a failed login has the account if there is one, and never what was typed
    account = accounts.signup("alice", PASSWORD)
    lines()
    for name in ("alice", "not a userid, but a secret"):
        with pytest.raises(Refusal):
            accounts.verify(name, "wrong")
    assert lines() == [
        ("login-failed", {"account": account.hex(), "why": "wrong-password"}),
        ("login-failed", {"why": "unknown-user"}),
    ]


def test_a_network_is_a_hash_that_is_the_same_wherever_the_key_is(tmp_path: Path):
    (tmp_path / "keys").mkdir()
    one, two, without = NetworkHashes(), NetworkHashes(), NetworkHashes()
    for hashes in (one, two):
        hashes.use_folder(tmp_path / "keys")
    early = one.of(NETWORK)
    assert early != two.of(NETWORK), "there is no key yet"
    make_mac_key(tmp_path / "keys")
    assert one.of(NETWORK) == two.of(NETWORK) != without.of(NETWORK)
    assert one.of(NETWORK) not in (early, one.of("203.0.113.8"))


def test_a_limit_is_logged_once_a_window_with_account_or_network(accounts, lines):
    limit = rate_limits.CommandRateLimit(1, timer=iter([0.0, 1.0, 2.0, 61.0, 62.0]).__next__)
    limit.check(b"\x01" * 8)
    for _ in range(2):
        with pytest.raises(Refusal):
            limit.check(b"\x01" * 8)
    limit.check(b"\x01" * 8)
    with pytest.raises(Refusal):
        limit.check(b"\x01" * 8)
    assert lines() == [("limit", {"account": "01" * 8, "limit": "command_rate"})] * 2

    with rate_limits.attempts_from(rate_limits.AttemptSource(NETWORK)):
        for _ in range(5):
            with pytest.raises(Refusal):
                accounts.verify("nobody", "wrong")
    found = lines()
    failed = ["login-failed"]
    assert [event for event, _ in found] == [*3 * failed, "limit", *2 * failed]
    assert {fields["network"] for _, fields in found} == {found[0][1]["network"]}
    assert NETWORK not in str(found)
    assert found[3][1]["limit"] == "password_rate"
    assert [fields["why"] for event, fields in found if event == "login-failed"][-1] == "too-fast"


def test_strangers_can_cause_only_so_many_lines_and_the_log_says_how_many_are_missing(lines):
    now = 0.0
    budget = rate_limits.LineBudget(2, lambda: now)
    for _ in range(5):
        note_security(SecurityEvent.LIMIT, budget=budget, limit="streams")
    note_security(SecurityEvent.LOGIN, b"\x01" * 8, budget=budget)
    assert [event for event, _ in lines()] == ["limit", "limit", "login"]
    now = 60.0
    note_security(SecurityEvent.LIMIT, budget=budget, limit="streams")
    assert lines() == [("left-out", {"lines": 3}), ("limit", {"limit": "streams"})]
