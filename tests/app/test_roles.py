"""Roles that operators give, and the record of what was done with them."""

import json

import pytest

from domain.errors import Code
from infra.languages.wording import IN_ENGLISH, wording
from infra.people.account_macs import AccountMacs
from infra.people.accounts import AccountRole, create_robot_accounts
from infra.people.acts import MOST_OF_REASON, TERMINAL, Act
from infra.redis import keys
from services.app.accounts import erase_account, log_out_account, set_suspended
from services.app.acts import PAGE, acts_of, record_act
from services.app.admission import change_admission, make_signup_link, revoke_signup_link
from services.app.passwords import make_account, replace_lost_password
from services.app.roles import has_role, require_moderator, require_operator, set_role
from services.cli import acts as acts_command
from services.words.acts import act_lines
from tests.helpers.api import Api
from tests.helpers.examples import refused
from tests.helpers.subcommands import change_accounts


@pytest.fixture(autouse=True)
def _no_acts_and_no_operators(api: Api) -> None:
    api.parts.data.delete(keys.ACTS)
    accounts = api.parts.accounts
    for name in accounts.name_of(accounts.holders(AccountRole.OPERATOR)):
        accounts.set_role(name, AccountRole.OPERATOR, held=False)


def role(api: Api, *names: str, held: bool = True) -> int:
    return change_accounts(api, "role", *names, is_held=held)


def test_the_terminal_gives_roles_and_takes_them(api, capsys):
    ann, ben = api.player(), api.player()
    assert role(api, "operator", ann.name, ben.name.upper()) == 0
    assert role(api, "moderator", ben.name) == 0
    both = (AccountRole.MODERATOR, AccountRole.OPERATOR)
    assert api.parts.accounts.record_of(ben.account).roles == both
    assert role(api, "operator", ben.name, held=False) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{ann.name} is now an operator",
        f"{ben.name} is now an operator",
        f"{ben.name} is now a moderator",
        f"{ben.name} is no longer an operator",
    ]
    assert api.parts.accounts.holders(AccountRole.OPERATOR) == [ann.account]
    assert role(api, "king", ann.name) == role(api, "operator") != 0
    assert "name a role (arbiter, moderator, operator)" in capsys.readouterr().err


def test_a_role_counts_as_long_as_it_is_held_and_its_account_open(api):
    ann, ben, cleo = (api.player() for _ in range(3))
    app = api.parts
    refused(Code.NOT_AN_OPERATOR, require_operator, app, ann.account)
    refused(Code.NOT_A_MODERATOR, require_moderator, app, ann.account)
    require_operator(app, TERMINAL)
    require_moderator(app, TERMINAL)
    set_role(app, TERMINAL, ann.name, AccountRole.OPERATOR, held=True)
    set_role(app, ann.account, ben.name, AccountRole.MODERATOR, held=True)
    require_operator(app, ann.account)
    require_moderator(app, ann.account)
    require_moderator(app, ben.account)
    refused(Code.NOT_AN_OPERATOR, require_operator, app, ben.account)
    create_robot_accounts(app.data, AccountMacs())
    for code, by, whom, held in (
        (Code.NOT_AN_OPERATOR, ben.account, cleo.name, True),
        (Code.NOT_WANTED, ann.account, ann.name, False),
        (Code.NOT_WANTED, TERMINAL, "robot-hard", True),
    ):
        refused(code, set_role, app, by, whom, AccountRole.OPERATOR, held=held)
    set_suspended(app, ben.name, suspended=True, by=ann.account)
    assert not has_role(app, ben.account, AccountRole.MODERATOR)
    assert not has_role(app, None, AccountRole.MODERATOR)
    set_role(app, TERMINAL, ann.name, AccountRole.OPERATOR, held=False)
    refused(Code.NOT_AN_OPERATOR, require_operator, app, ann.account)


def test_nobody_else_can_do_what_an_operator_does_and_nothing_happens(api):
    app, ann = api.parts, api.player()
    for act, args in (
        (make_account, ("new",)),
        (replace_lost_password, (ann.name,)),
        (log_out_account, (ann.name,)),
        (change_admission, ({"signups": "closed"},)),
        (make_signup_link, (1, 1, "")),
        (revoke_signup_link, ("nix",)),
    ):
        refused(Code.NOT_AN_OPERATOR, act, app, *args, by=ann.account)
    refused(Code.NOT_AN_OPERATOR, set_suspended, app, ann.name, suspended=True, by=ann.account)
    why = "x" * (MOST_OF_REASON + 1)
    refused(Code.TOO_LONG, set_suspended, app, ann.name, suspended=True, why=why)
    refused(Code.NOT_A_MODERATOR, acts_of, app, ann.account)
    assert app.acts.newest(9) == []
    assert not app.accounts.record_of(ann.account).suspended


def test_each_act_is_recorded_with_who_what_and_why_in_both_languages(api, capsys):
    app, ann, ben = api.parts, api.player(), api.player()
    set_role(app, TERMINAL, ann.name, AccountRole.OPERATOR, held=True)
    set_suspended(app, ben.name, suspended=True, by=ann.account, why="spam")
    replace_lost_password(app, ben.name, by=ann.account)
    link, _ = make_signup_link(app, 1, 1, "", by=ann.account)
    lines = act_lines(app, acts_of(app, ann.account), IN_ENGLISH)
    assert [(line.said, line.why) for line in lines] == [
        (f"{ann.name} made the sign-up link {link.id}", ""),
        (f"{ann.name} replaced the password of {ben.name}", ""),
        (f"{ann.name} suspended {ben.name}", "spam"),
        (f"The terminal gave {ann.name} a role: operator", ""),
    ]
    german = act_lines(app, acts_of(app, ann.account), wording("de"))
    assert german[2].said == f"{ann.name} hat {ben.name} gesperrt"
    assert acts_command.run(2, as_json=False, settings=api.settings) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[2] for line in printed] == [line.said for line in lines[:2]]


def test_the_record_is_read_page_by_page_and_outlives_its_accounts(api, capsys):
    app, ann = api.parts, api.player()
    for at in range(PAGE + 2):
        record_act(app, TERMINAL, Act.BROADCAST, ann.account, what=str(at))
    first = acts_of(app, TERMINAL)
    rest = acts_of(app, TERMINAL, first[-1].id)
    assert [act.what for act in (*first, *rest)] == [str(at) for at in reversed(range(PAGE + 2))]
    erase_account(app, ann.account)
    assert app.data.xlen(keys.ACTS) == PAGE + 2
    assert acts_command.run(PAGE + 1, as_json=True, settings=api.settings) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == PAGE + 1
    assert {line["act"] for line in printed} == {"broadcast"}


def test_every_act_has_a_sentence(api):
    ann = api.player()
    for act in Act:
        record_act(api.parts, ann.account, act, ann.account, what="7")
    for words in (IN_ENGLISH, wording("de")):
        lines = act_lines(api.parts, acts_of(api.parts, TERMINAL), words)
        assert len(lines) == len(Act)
        assert all(line.said.startswith(f"{ann.name} ") for line in lines)
