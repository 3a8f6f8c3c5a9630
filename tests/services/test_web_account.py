"""The account by the web: preferences, addresses, tokens, vacations, the end of all mail, and what is pending."""

import re
from datetime import UTC, datetime, timedelta

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
from tests.helpers.api import PASSWORD, Api, until
from tests.helpers.web import Guest, Read, door
from tests.services.matches_by_form import challenge, turn


def test_preferences_addresses_and_tokens_are_kept(api, come):
    guest = come(api.player())
    fields = {"language": "de", "notify": "daily", "display-pow2": "small", "receipts": "on"}
    assert guest.send("/account/preferences", fields).status_code == 303
    answer = guest.send("/account/addresses", {"addresses": "a@example.org, b@example.org"})
    assert answer.status_code == 303
    profile = api.parts.accounts.record_of(api.parts.accounts.id_of(guest.name))
    assert (profile.language, profile.notify, profile.receipts) == ("de", "daily", True)
    assert dict(profile.displays)["pow2"] == "small"
    assert [one.address for one in profile.addresses] == ["a@example.org", "b@example.org"]
    assert "DIE" in guest.page("/games/pow2").upper()
    before = {*re.findall(r"/account/tokens/([0-9a-f]{16})/revoke", guest.page("/account"))}
    made = guest.send("/account/tokens", {"label": "bot", "scope": ["read"], "days": "30"})
    (text,) = re.findall(r'value="(mp_[\w-]+)"', made.text)
    assert check_one(api.parts.tokens, text).scopes == ("read",)
    assert text not in guest.page("/account")
    listed = {*re.findall(r"/account/tokens/([0-9a-f]{16})/revoke", guest.page("/account"))}
    (id_,) = listed - before
    guest.send(f"/account/tokens/{id_}/revoke")
    assert check(api.parts.tokens, [text]) == [None]


def test_a_vacation_may_end_today_or_tomorrow_and_not_before_the_one_that_runs(api):
    one = api.player()
    actor = Actor(one.account, "web", "vacation")
    today = api.parts.store.now() // DAY * DAY
    with pytest.raises(Refusal):
        vacations.take_until(api.parts, actor, today - DAY)
    assert vacations.take_until(api.parts, actor, today).until // DAY == today // DAY + 1
    assert vacations.take_until(api.parts, actor, today + DAY).until // DAY == today // DAY + 2
    with pytest.raises(Refusal):
        vacations.take_until(api.parts, actor, today)


def test_a_vacation_is_taken_without_the_password_because_who_takes_it_is_logged_in(api, come):
    guest = come(api.player())
    answer = guest.send("/account/vacation", {"days": "3"})
    said = guest.page(answer.headers["location"])
    assert "You are on vacation until <time" in said
    assert "You have 27 days left" in said
    assert "Saved. Your clocks follow." in said
    assert "I’m back" in said
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


def test_a_change_is_said_beside_its_button_and_a_mistake_at_its_field(api, come):
    guest = come(api.player())
    for fields in ({"at": "playing", "challenges": "none"}, {"at": "notify", "notify": "daily"}):
        where = guest.send("/account/preferences", fields).headers["location"]
        assert where == f"/account?saved={fields['at']}#{fields['at']}"
        assert guest.page(where).count('class="saved"') == 1
    assert 'class="saved"' not in guest.page("/account")
    profile = api.parts.accounts.record_of(api.parts.accounts.id_of(guest.name))
    assert (profile.challenges, profile.notify) == ("none", "daily")
    assert '<option value="none" selected>nobody' in guest.page("/account")
    wrong = guest.send("/account/addresses", {"addresses": "nowhere"})
    assert wrong.status_code == 422
    assert 'value="nowhere" autofocus aria-invalid="true"' in wrong.text
    assert "doesn’t send mail" in wrong.text
    assert guest.send("/account/deletion", {"password": "wrong1"}).status_code == 401


def test_one_click_ends_all_mail_and_looking_at_the_link_does_not(api, come):
    account = api.parts.accounts.id_of(api.player().name)
    make_mac_key(keys_folder(api.parts.settings))
    link = UnsubscribeLinks(keys_folder(api.parts.settings), "https://x.example").url(account)
    path = link.removeprefix("https://x.example")

    def signed_off() -> bool:
        return api.parts.accounts.record_of(account).signed_off

    guest = come()
    page = guest.page(path)
    assert "This stops all mail to" in page
    assert "reminders before time runs out." in page
    assert not signed_off()
    forged = f"{path[:-1]}{'0' if path[-1] != '0' else '1'}"
    assert api.http.post(forged).status_code == guest.get(forged).status_code == 404
    assert not signed_off()
    # as a mail program does it, without a cookie
    done = api.http.post(path, data={"List-Unsubscribe": "One-Click"})
    assert (done.status_code, signed_off()) == (200, True)
    assert "won’t get any more mail," in done.text
    assert api.http.post(path).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "part"])
def test_a_page_says_that_a_move_is_pending_where_nothing_is_promised(tmp_path, headers):
    with Api(tmp_path, durability=Mode.NONE) as api, Guest(api) as guest:
        one, other = api.players()
        begun = one.post("/api/matches", {"game": "pow2", "players": [one.name, other.name]})
        board = int(begun.headers["Location"].split("/")[3])
        guest.log_in(one.name)
        move = {"do": "move", "move": "m13-j7"}
        answer = guest.send(f"/m/{board}/act", move, on=f"/m/{board}", headers=headers)
        assert answer.status_code == 202
        assert "durability none this is never more than pending" in answer.text
        assert "That did not work" not in answer.text
        assert answer.headers["Retry-After"] == "1"
        assert api.http.get(f"/api/matches/{board}").json()["ply"] == 1


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_leads_to_a_page_that_says_so(tmp_path):
    with Api(tmp_path, relay="smtp://127.0.0.1:1") as api, door(api) as come:
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
    hal, ida = come().sign_up("hal-b"), come().sign_up("ida-b")
    page = ida.page("/players/hal-b")
    assert ">Block</button>" in page
    assert "/players/hal-b/unblock" not in Read(page).forms
    assert "/players/hal-b/block" in Read(page).forms
    boards = [challenge(hal, ida), challenge(hal, ida, game="halves")]
    api.caught_up()
    shown = ida.send("/players/hal-b/block", on="/players/hal-b").headers["location"]
    assert shown == "/account?saved=blocks&declined=2#blocks"
    page = ida.page(shown.partition("#")[0])
    assert "2 matches with this player were declined." in page
    assert "/players/hal-b/unblock" in Read(page).forms
    # a block does not wait until its declines are decided
    until(lambda: all("Declined" in turn(hal, board) for board in boards))
    page = ida.page("/players/hal-b")
    assert ">Unblock</button>" in page
    assert "/players/hal-b/unblock" in Read(page).forms
    assert ida.send("/players/hal-b/unblock", on="/account").status_code == 303
    assert "/players/hal-b/unblock" not in Read(ida.page("/account")).forms
    assert api.parts.blocks.of(api.parts.accounts.id_of("ida-b")) == []
