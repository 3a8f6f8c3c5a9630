"""A suspended account: no way in, at any front end; and a server that makes no new accounts."""

import csv
import re
from io import StringIO
from pathlib import Path

import pytest

from domain.errors import Refusal
from infra.people.accounts import accounts, create_robot_accounts
from infra.people.acts import Act
from infra.people.moderation import DAY_MS
from infra.people.password_resets import PasswordResets
from infra.people.rate_limits import SecurityEvent
from infra.process.metrics import REGISTRY
from infra.sentences import day_of
from services.app.account_rows import AccountRow, check_row, read_rows
from services.app.accounts import set_suspended
from services.app.admission import signup_links
from services.cli import logout
from services.language import Language
from tests.fakes.app import CHEAP
from tests.fakes.everywhere import MAIL, SEAT, TERMINAL, Action, same
from tests.helpers.api import PASSWORD, code_of
from tests.helpers.subcommands import change_accounts as run

MOVE = Action("m13-j7", {"do": "move", "move": "m13-j7"}, {"do": "move", "move": "m13-j7"})
TOKEN = {"password": PASSWORD, "label": "bot", "scopes": ["play"]}


SETTINGS = {"site": "https://x.example"}


@pytest.fixture(autouse=True)
def _cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the accounts that the command line makes, as of those of the server."""
    monkeypatch.setattr("infra.people.accounts.accounts.PasswordHasher", lambda: CHEAP)


def counted(event: SecurityEvent) -> float:
    found = REGISTRY.get_sample_value("matchpost_security_events_total", {"event": event})
    assert found is not None
    return found


def test_no_way_leads_into_a_suspended_account_until_it_is_reinstated(
    api, everywhere, pair, capsys, come
):
    one, board = pair[0], everywhere.match(*pair)
    guest = everywhere.guest(one)
    opened = one.post("/api/challenges", {"game": "pow2", "seat": 0})
    assert opened.is_success, opened.text
    before = counted(SecurityEvent.ACCOUNT_SUSPENDED)
    assert run(api, "suspend", one.name) == 0
    assert capsys.readouterr().out.startswith(f"{one.name} is suspended and logged out everywhere")
    assert counted(SecurityEvent.ACCOUNT_SUSPENDED) == before + 1

    link = PasswordResets(api.parts.data).issue(one.account)
    said = same(
        {way: everywhere.act(way, one, board, MOVE) for way in (TERMINAL, MAIL, SEAT)}
        | {"mail to a seat's former address": everywhere.seat(one, board, MOVE.words, turn=0)}
    )
    assert said.code == "suspended"
    assert f"{one.name}'s account is suspended" in said.sentence.lower()
    token = api.http.post("/api/tokens", json={"userid": one.name, **TOKEN})
    assert (token.status_code, code_of(token)) == (403, "suspended")
    assert one.get("/api/account").status_code == 401
    assert guest.get("/account").status_code == 303
    refused = come().log_in(one.name)
    assert refused.status_code == 403
    assert f"{one.name}&#39;s account is suspended" in refused.text
    german = come(**{"Accept-Language": "de"}).log_in(one.name)
    assert f"Das Konto von {one.name} ist gesperrt" in german.text
    assert come().log_in(one.name, "a wrong guess").status_code == 401
    assert come().get(f"/password/{link}").status_code == 404
    assert api.parts.store.snapshots([board])[0]
    assert everywhere.state(board).ply == 0

    assert run(api, "reinstate", one.name) == 0
    assert everywhere.seat(one, board, MOVE.words, turn=0).code == "not-allowed"
    assert everywhere.act(SEAT, one, board, MOVE).code == ""
    assert api.http.post("/api/tokens", json={"userid": one.name, **TOKEN}).status_code == 201


def test_a_suspension_ends_by_itself_at_every_way_in(
    api, everywhere, pair, monkeypatch, capsys, come
):
    (one, other), board = pair, everywhere.match(*pair)
    for days, code in ((3651, 1), (3, 0), (1, 0)):
        assert run(api, "suspend", one.name, days=days) == code
    printed = capsys.readouterr()
    assert "bad-option: a sanction lasts up to 3650 days" in printed.err
    assert f"{one.name} is suspended for 3 days and logged out everywhere" in printed.out
    # of two the longer holds
    ends = api.parts.accounts.record_of(one.account).suspended_until
    day = day_of(ends)
    assert 2 * DAY_MS < ends - api.parts.store.now() <= 3 * DAY_MS

    said = same({way: everywhere.act(way, one, board, MOVE) for way in (TERMINAL, MAIL, SEAT)})
    assert (said.code, f"suspended until {day}" in said.sentence) == ("suspended", True)
    assert f"account is suspended until {day}" in come().log_in(one.name).text
    german = come(**{"Accept-Language": "de"}).log_in(one.name)
    assert f"Das Konto von {one.name} ist bis {day} gesperrt" in german.text
    assert run(api, "list") == 0
    assert re.search(
        rf"^{one.name}  \S+  suspended until {day}  ", capsys.readouterr().out, re.MULTILINE
    )

    monkeypatch.setattr(accounts, "time_ms", lambda _: ends)
    assert everywhere.act(TERMINAL, one, board, MOVE).code == ""
    assert api.http.post("/api/tokens", json={"userid": one.name, **TOKEN}).status_code == 201
    assert not everywhere.start(TERMINAL, other, board, [other.name, one.name], ()).code
    guest = come()
    assert guest.log_in(one.name).status_code == 303
    assert guest.get("/account").status_code == 200
    assert run(api, "list") == 0
    assert re.search(rf"^{one.name}  \S+  {one.name}@", capsys.readouterr().out, re.MULTILINE)


def test_an_open_challenge_of_a_suspended_account_can_not_be_taken(everywhere, pair):
    one, other = pair
    challenge = one.post("/api/challenges", {"game": "pow2", "seat": 0}).json()["id"]
    set_suspended(everywhere.api.parts, one.name, suspended=True)
    taken = other.post(f"/api/challenges/{challenge}/take", {"seat": 1})
    assert code_of(taken) in ("unknown-challenge", "not-found")


def test_what_was_opened_while_an_account_was_suspended_is_ended(everywhere, monkeypatch, come):
    """The password was found right a moment before."""
    one = everywhere.player()
    parts = everywhere.api.parts
    monkeypatch.setattr(
        "services.app.accounts.authenticate",
        lambda *_: set_suspended(parts, one.name, suspended=True) or one.account,
    )
    refused = everywhere.api.http.post("/api/tokens", json={"userid": one.name, **TOKEN})
    assert code_of(refused) == "suspended"
    assert parts.tokens.list_of(one.account) == []
    assert come().log_in(one.name).status_code == 403
    assert parts.sessions.list_of(one.account) == []


def test_an_operator_logs_an_account_out(everywhere, capsys, come):
    one = everywhere.player()
    guest = everywhere.guest(one)
    assert logout.run(name=one.name, settings=everywhere.api.settings) == 0
    assert "is logged out everywhere" in capsys.readouterr().out
    assert guest.get("/account").status_code == 303
    assert one.get("/api/account").status_code == 401
    assert come().log_in(one.name).status_code == 303
    parts = everywhere.api.parts
    create_robot_accounts(parts.people, parts.accounts.macs)
    for name, code in (("no-such-player", "unknown-user"), ("robot-easy", "not-wanted")):
        assert run(everywhere.api, "suspend", name) == 1
        assert code in capsys.readouterr().err


def test_where_sign_ups_are_closed_only_the_operator_makes_accounts(api, everywhere, come):
    api.parts.admissions.change({"signups": "closed"})
    try:
        line, body = f"signup zelda {PASSWORD}", {"userid": "zelda", "password": PASSWORD}
        by_api = api.http.post("/api/accounts", json=body)
        assert (by_api.status_code, code_of(by_api)) == (403, "signups-closed")
        assert Language(api.parts).do(line).code == "signups-closed"
        assert everywhere.mail(everywhere.player(), line).code == "signups-closed"
        guest = come()
        page = guest.get("/signup")
        assert page.status_code == 403
        assert "This server is closed to new accounts;" in page.text
        assert 'action="/signup"' not in page.text
        assert guest.send("/signup", body, on="/login").status_code == 403
        assert everywhere.say(line).code == ""
        assert come().log_in("zelda").status_code == 303
        assert run(api, "create", "yorick") == 0
    finally:
        api.parts.admissions.change({"signups": "open"})


# --- accounts that an operator makes for others, and passwords that were lost


def test_an_account_is_made_with_a_password_that_is_easy_to_copy_and_opens_it(api, capsys, come):
    assert run(api, "create", "Anna", "ben") == 0
    made = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert list(made) == ["anna", "ben"]
    assert all(
        re.fullmatch("([a-hjkmnp-z2-9]{4}-){2}[a-hjkmnp-z2-9]{4}", one) for one in made.values()
    )
    assert come().log_in("anna", made["anna"]).status_code == 303
    assert come().log_in("anna", made["ben"]).status_code == 401


def test_a_class_is_made_from_a_list_and_one_refused_name_harms_no_other(
    api, capsys, tmp_path: Path
):
    file = tmp_path / "class.csv"
    file.write_text(
        "\ufeffUserid,Real name\nclara,Clara C.\nadmin,A.\n\nclara,Again\ndora,\n", "utf-8"
    )
    assert run(api, "create", file=file, slips=True, language="de") == 1
    said = capsys.readouterr()
    assert re.findall(r"Name: (\w+)", said.out) == ["clara", "dora"]
    assert "Dein Konto auf https://x.example" in said.out
    assert [line.split(":")[0] for line in said.err.splitlines()] == ["bad-name", "name-taken"]
    assert run(api, "create", file=tmp_path / "none.csv") == 1
    assert "none.csv: No such file" in capsys.readouterr().err
    assert run(api, "create", "eva", slips=True, language="xx") == 1
    assert "bad-option" in capsys.readouterr().err


def test_a_lost_password_is_replaced_and_all_that_it_opened_is_closed(api, capsys, come):
    one = api.player(name="frida")
    link = PasswordResets(api.parts.people).issue(one.account)
    guest = come()
    guest.log_in("frida")
    assert run(api, "reset", "Frida") == 0
    name, password = capsys.readouterr().out.split()
    assert name == "frida"
    assert guest.get("/account").status_code == 303
    assert one.get("/api/account").status_code == 401
    assert come().get(f"/password/{link}").status_code == 404
    assert come().log_in("frida", PASSWORD).status_code == 401
    assert come().log_in("frida", password).status_code == 303
    create_robot_accounts(api.parts.people, api.parts.accounts.macs)
    for wrong, code in (("no-such-player", "unknown-user"), ("robot-easy", "not-wanted")):
        assert run(api, "reset", wrong) == 1
        assert code in capsys.readouterr().err
    # a suspended account stays closed
    set_suspended(api.parts, "frida", suspended=True)
    assert run(api, "reset", "frida") == 0
    fresh = capsys.readouterr().out.split()[1]
    token = {"userid": "frida", "password": fresh, "label": "x", "scopes": ["read"]}
    assert code_of(api.http.post("/api/tokens", json=token)) == "suspended"


CLASS = """userid,name,email,language
gina,Gina Green,,de
Hugo,Hugo Hill,hugo@x.example,
ina,,,xx
jonas,"Jo\tnas",,
,Nobody,,
"""


def test_a_class_has_real_names_that_only_the_operator_sees(api, capsys, tmp_path: Path, come):
    file = tmp_path / "class.csv"
    file.write_text(CLASS)
    assert run(api, "create", file=file, slips=True) == 1
    said = capsys.readouterr()
    german, english = said.out.split("-" * 60)[1:]
    assert german.strip().startswith("Gina Green\nDein Konto auf https://x.example")
    assert english.strip().startswith("Hugo Hill\nYour account at https://x.example")
    assert [line.split(":")[0] for line in said.err.splitlines()] == ["bad-option", "bad-request"]
    assert run(api, "list", as_csv=True) == 0
    rows = {row["userid"]: row for row in csv.DictReader(StringIO(capsys.readouterr().out))}
    assert (rows["gina"]["name"], rows["gina"]["language"]) == ("Gina Green", "de")
    assert (rows["hugo"]["name"], rows["hugo"]["addresses"]) == ("Hugo Hill", "hugo@x.example")
    assert "ina" not in rows
    assert "jonas" not in rows
    other = api.player(name="klara")
    board = api.begun(other, api.player_of("gina"))
    guest = come()
    guest.log_in("klara")
    for path in ("/players/gina", "/players", f"/m/{board}", "/"):
        assert "Gina Green" not in guest.get(path).text
    for path in ("/api/players/gina", f"/api/matches/{board}", f"/api/matches/{board}/export"):
        assert "Gina Green" not in other.get(path).text
    assert run(api, "reset", "gina", slips=True) == 0
    assert "Gina Green" in capsys.readouterr().out


def test_each_row_of_a_list_gets_a_link_of_its_own(api, capsys, tmp_path: Path):
    file = tmp_path / "class.csv"
    file.write_text("userid,name,language\nlea,Lea Long,de\nmax,Max Moor,\n")
    assert run(api, "invite", file=file, slips=True) == 0
    german, english = capsys.readouterr().out.split("-" * 60)[1:]
    assert "Lea Long\nLege hier bis" in german
    assert "Max Moor\nMake your own account here, until" in english
    texts = re.findall(r"https://x\.example/signup\?link=(\S+)", german + english)
    assert len(set(texts)) == 2
    # both may be of the same millisecond, and then in any order
    links = sorted((one.note, one.uses) for one, _ in signup_links(api.parts))
    assert links == [("Lea Long", 1), ("Max Moor", 1)]
    assert all(map(api.parts.admissions.usable_link, texts))
    assert run(api, "invite", "Nina") == 0
    assert re.match(r"Nina  https://x\.example/signup\?link=\S+$", capsys.readouterr().out)


def test_accounts_are_closed_opened_and_logged_out_several_at_a_time(api, capsys, come):
    for name in ("olga", "paul"):
        api.player(name=name)
    guest = come()
    guest.log_in("olga")
    assert run(api, "logout", "olga", "nobody-here") == 1
    assert "unknown-user" in capsys.readouterr().err
    assert guest.get("/account").status_code == 303
    assert run(api, "suspend", "Olga", "paul") == 0
    assert come().log_in("olga").status_code != 303
    assert run(api, "reinstate", "olga") == 0
    assert come().log_in("olga").status_code == 303
    assert come().log_in("paul").status_code != 303
    done = [one.act for one in api.parts.acts.newest(4)]
    assert done == [Act.REINSTATED, Act.SUSPENDED, Act.SUSPENDED, Act.LOGGED_OUT]


def test_columns_come_in_any_order_and_without_names_the_first_has_userids():
    lines = ["userid,Language,class,NAME", "ann,de,7b,Ann A.", ",de,7b,x", "ben"]
    assert read_rows(lines) == [AccountRow("ann", name="Ann A.", language="de"), AccountRow("ben")]
    assert read_rows(["ann,Ann A.", "", "ben"]) == [AccountRow("ann"), AccountRow("ben")]
    with pytest.raises(Refusal, match="80"):
        check_row(AccountRow("ann", name="a" * 81))
