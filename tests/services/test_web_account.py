"""The account by the web: preferences, addresses, tokens, vacations, the end of all mail, and what is pending."""

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from domain.clocks.time_control import DAY
from domain.errors import Refusal
from infra.durability.durability import Mode
from infra.log.key_files import keys_folder
from infra.mail.unsubscribe_links import UnsubscribeLinks
from infra.people.account_macs import make_mac_key
from services.app import vacations
from services.app.context import Actor
from tests.fakes.tokens import check, check_one
from tests.helpers.api import PASSWORD, Api, code_of, until
from tests.helpers.web import Guest, Read, visitors
from tests.services.matches_by_form import challenge, turn


def test_preferences_addresses_and_tokens_are_kept_and_said_beside_their_button(api, come):
    guest = come(api.player())
    account = api.parts.accounts.id_of(guest.name)
    for fields in (
        {"at": "playing", "challenges": "none", "display-pow2": "small", "receipts": "on"},
        {"at": "notify", "language": "de", "notify": "daily"},
    ):
        where = guest.send("/account/preferences", fields).headers["location"]
        assert where == f"/account?saved={fields['at']}#{fields['at']}"
        assert guest.page(where).count('class="saved"') == 1
    assert 'class="saved"' not in guest.page("/account")
    assert "DIE" in guest.page("/games/pow2").upper()
    guest.send("/account/preferences", {"language": "en"})
    answer = guest.send("/account/addresses", {"addresses": "a@example.org, b@example.org"})
    assert answer.status_code == 303
    profile = api.parts.accounts.record_of(account)
    assert (profile.challenges, profile.notify, profile.receipts) == ("none", "daily", True)
    assert dict(profile.displays)["pow2"] == "small"
    assert [one.address for one in profile.addresses] == ["a@example.org", "b@example.org"]
    assert '<option value="none" selected>nobody' in guest.page("/account")
    wrong = guest.send("/account/addresses", {"addresses": "nowhere"})
    assert wrong.status_code == 422
    assert 'value="nowhere" autofocus aria-invalid="true"' in wrong.text
    assert "doesn’t send mail" in wrong.text
    before = {*re.findall(r"/account/tokens/([0-9a-f]{16})/revoke", guest.page("/account"))}
    made = guest.send("/account/tokens", {"label": "bot", "scope": ["read"], "days": "30"})
    (text,) = re.findall(r'value="(mp_[\w-]+)"', made.text)
    assert check_one(api.parts.tokens, text).scopes == ("read",)
    listed = guest.page("/account")
    assert text not in listed
    (id_,) = {*re.findall(r"/account/tokens/([0-9a-f]{16})/revoke", listed)} - before
    guest.send(f"/account/tokens/{id_}/revoke")
    assert check(api.parts.tokens, [text]) == [None]


def test_a_vacation_is_taken_by_days_or_a_date_without_the_password(api, come):
    guest = come(api.player())
    said = guest.page(guest.send("/account/vacation", {"days": "3"}).headers["location"])
    for part in (
        "You are on vacation until <time", "You have 27 days left", "Saved. Your clocks follow.", "I’m back",
    ):  # fmt: skip
        assert part in said
    now = datetime.now(UTC)
    until = f"{now + timedelta(days=5):%Y-%m-%d}"
    assert guest.send("/account/vacation", {"until": until}).status_code == 303
    ends = vacations.status(api.parts, api.parts.accounts.id_of(guest.name)).until
    # whole days from the moment of its beginning on
    assert 0 <= ends / 1000 - (now.timestamp() // 86_400 + 6) * 86_400 < 86_400
    for bad in (
        *({"days": days} for days in ("31", "a b")),
        *({"until": day} for day in (f"{now:%Y-%m-%d}", "2020-01-01", "tomorrow")),
    ):
        refused = guest.send("/account/vacation", bad)
        assert refused.status_code == 422, bad
        assert 'role="alert" id="wrong-vacation"' in refused.text, bad
    assert guest.send("/account/vacation", {"days": "back"}).status_code == 303
    # it may end today or tomorrow, and not before the one that runs
    actor = Actor(api.player().account, "web", "vacation")
    today = api.parts.store.now() // DAY * DAY
    with pytest.raises(Refusal):
        vacations.take_until(api.parts, actor, today - DAY)
    for days in (0, 1):
        ends = vacations.take_until(api.parts, actor, today + days * DAY).until
        assert ends // DAY == today // DAY + 1 + days
    with pytest.raises(Refusal):
        vacations.take_until(api.parts, actor, today)


def test_one_click_ends_all_mail_and_looking_at_the_link_does_not(api, come):
    account = api.player().account
    make_mac_key(keys_folder(api.parts.settings))
    link = UnsubscribeLinks(keys_folder(api.parts.settings), "https://x.example").url(account)
    path = link.removeprefix("https://x.example")

    def signed_off() -> bool:
        return api.parts.accounts.record_of(account).signed_off

    guest = come()
    page = guest.page(path)
    assert "This stops all mail to" in page
    assert "reminders before time runs out." in page
    forged = f"{path[:-1]}{'0' if path[-1] != '0' else '1'}"
    assert api.http.post(forged).status_code == guest.get(forged).status_code == 404
    assert not signed_off()
    # as a mail program does it, without a cookie
    done = api.http.post(path, data={"List-Unsubscribe": "One-Click"})
    assert (done.status_code, signed_off()) == (200, True)
    assert "won’t get any more mail," in done.text
    assert api.http.post(path).status_code == 200


def test_a_page_says_that_a_move_is_pending_where_nothing_is_promised(tmp_path):
    with Api(tmp_path, durability=Mode.NONE) as api, Guest(api) as guest:
        one, other = api.players()
        guest.log_in(one.name)
        for headers in ({}, {"HX-Request": "true"}):
            begun = one.post("/api/matches", {"game": "pow2", "players": [one.name, other.name]})
            board = int(begun.headers["Location"].split("/")[3])
            move = {"do": "move", "move": "m13-j7"}
            answer = guest.send(f"/m/{board}/act", move, on=f"/m/{board}", headers=headers)
            assert answer.status_code == 202
            assert "durability none this is never more than pending" in answer.text
            assert "That didn’t work" not in answer.text
            assert answer.headers["Retry-After"] == "1"
            assert api.http.get(f"/api/matches/{board}").json()["ply"] == 1


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_leads_to_a_page_that_says_so(tmp_path):
    with Api(tmp_path, relay="smtp://127.0.0.1:1") as api, visitors(api) as come:
        for n in range(6):
            guest = come()
            fields = {"userid": f"fan{n}", "password": PASSWORD, "address": f"v+{n}@example.net"}
            sent = guest.send("/signup", fields, on="/signup")
            assert sent.headers["location"] == ("/account#mail" if n == 5 else "/")
            page = guest.page("/account")
            said = "No code was sent to your address, because too many were requested today;"
            assert (said in page) is (n == 5)
            assert ("not verified yet: reply to our e-mail" in page) is (n < 5)


def test_a_player_is_blocked_on_their_page_and_unblocked_in_the_account(api, come):
    hal, ida = come(api.player()), come(api.player())
    player = f"/players/{hal.name}"
    assert ">Block</button>" in ida.page(player)
    assert f"{player}/unblock" not in Read(ida.page(player)).forms
    boards = [challenge(hal, ida), challenge(hal, ida, game="halves")]
    api.caught_up()
    shown = ida.send(f"{player}/block", on=player).headers["location"]
    assert shown == "/account?saved=blocks&declined=2#blocks"
    page = ida.page(shown.partition("#")[0])
    assert "2 matches with this player were declined." in page
    assert f"{player}/unblock" in Read(page).forms
    # a block does not wait until its declines are decided
    until(lambda: all("Declined" in turn(hal, board) for board in boards))
    assert ">Unblock</button>" in ida.page(player)
    assert ida.send(f"{player}/unblock", on="/account").status_code == 303
    assert f"{player}/unblock" not in Read(ida.page("/account")).forms
    assert api.parts.blocks.of(api.parts.accounts.id_of(ida.name)) == []


def test_what_is_not_configured_is_not_believed_and_not_there(api, come):
    # a visitor who was never here
    page = httpx.get(f"{api.url}/login", headers={"X-Forwarded-Proto": "https"}, trust_env=False)
    assert page.headers["set-cookie"].startswith("guest=")
    assert "secure" not in page.headers["set-cookie"].lower()
    assert "This server doesn’t send mail," in come().page("/password")
    assert 'href="/password"' in come().page("/login")
    assert come().send("/password", {"who": "x"}, on="/login").status_code == 503
    # metrics are not behind the public address
    assert code_of(api.http.get("/metrics")) == "not-found"
