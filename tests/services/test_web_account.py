"""The account by the web: preferences, vacations, and news."""

import re
from datetime import UTC, datetime, timedelta

from infra.log.key_files import keys_folder
from infra.mail.unsubscribe_links import UnsubscribeLinks
from infra.mail.verification_codes import VerificationCodes
from infra.people.account_macs import make_mac_key
from infra.people.account_notices import UnreadCounts
from services.app import vacations
from services.app.matches import load_state
from tests.fakes.tokens import check, check_one
from tests.helpers.api import Api, until
from tests.helpers.web import door
from tests.services.matches_by_form import start


def test_preferences_addresses_and_tokens_are_kept(api, come):
    guest = come()
    guest.log_in(api.player().name)
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


def test_english_is_kept_when_it_is_chosen_and_a_choice_can_be_taken_back(api, come):
    guest = come()
    guest.log_in(api.player().name)
    asks = {"accept-language": "de"}
    for choice, shown in (("", "de"), ("en", "en"), ("de", "de"), ("", "de")):
        guest.send("/account/preferences", {"language": choice})
        profile = api.parts.accounts.record_of(api.parts.accounts.id_of(guest.name))
        assert profile.language == choice
        assert f'<html lang="{shown}"' in guest.get("/account", headers=asks).text
    guest.send("/account/preferences", {"notify": "move"})
    assert '<html lang="en"' in guest.get("/account", headers={"accept-language": "fr"}).text


def test_a_vacation_is_taken_without_the_password_because_who_takes_it_is_logged_in(api, pair):
    one, two = pair
    board = start(one, two)
    api.caught_up()
    answer = one.send("/account/vacation", {"days": "3"})
    said = one.page(answer.headers["location"])
    assert "You are on vacation until <time" in said
    assert "You have 27 days left" in said
    assert "Saved. Your clocks follow." in said
    until(lambda: load_state(api.parts, board).clock.stops)
    assert one.send("/account/vacation", {"days": "31"}).status_code == 422
    assert one.send("/account/vacation", {"days": "a b"}).status_code == 422
    assert one.send("/account/vacation", {"days": "back"}).status_code == 303


def test_what_others_write_is_news_until_the_match_is_looked_at(api, pair):
    one, two = pair
    board = start(one, two)
    account = api.parts.accounts.id_of(two.name)
    said = one.send(f"/m/{board}/chat", {"text": "hello - you"}, on=f"/m/{board}")
    assert said.status_code == 303
    api.parts.messages.send(api.parts.accounts.id_of(one.name), [account], "hi", bytes(16))
    assert api.parts.unread.counts(account) == UnreadCounts({board: 1}, 1)
    home = two.page("/")
    assert f"{one.name} sent a message in" in home
    assert f"{one.name} wrote to you" in home
    assert "/m/0" not in home
    assert "hello - you" in two.page(f"/m/{board}")
    assert api.parts.unread.counts(account) == UnreadCounts({}, 1)


def test_a_vacation_may_be_taken_to_a_day_and_be_made_longer(api, come):
    guest = come()
    guest.log_in(api.player().name)
    now = datetime.now(UTC)
    for days in (2, 5):
        until = f"{now + timedelta(days=days):%Y-%m-%d}"
        assert guest.send("/account/vacation", {"until": until}).status_code == 303
        account = api.parts.accounts.id_of(guest.name)
        ends = vacations.status(api.parts, account).until
        # whole days from the moment of its beginning on
        assert 0 <= ends / 1000 - (now.timestamp() // 86_400 + days + 1) * 86_400 < 86_400
    for bad in (f"{now:%Y-%m-%d}", "2020-01-01", "tomorrow"):
        answer = guest.send("/account/vacation", {"until": bad})
        assert answer.status_code == 422
        assert 'role="alert" id="wrong-vacation"' in answer.text
    assert "I’m back" in guest.page("/account")


def test_a_change_is_said_beside_its_button_and_a_mistake_at_its_field(api, come):
    guest = come()
    guest.log_in(api.player().name)
    for fields in ({"at": "playing", "challenges": "none"}, {"at": "notify", "notify": "daily"}):
        where = guest.send("/account/preferences", fields).headers["location"]
        assert where == f"/account?saved={fields['at']}#{fields['at']}"
        assert guest.page(where).count('class="saved"') == 1
    assert 'class="saved"' not in guest.page("/account")
    profile = api.parts.accounts.record_of(api.parts.accounts.id_of(guest.name))
    assert (profile.challenges, profile.notify) == ("none", "daily")
    wrong = guest.send("/account/addresses", {"addresses": "nowhere"})
    assert wrong.status_code == 422
    assert 'value="nowhere" autofocus aria-invalid="true"' in wrong.text
    assert "doesn’t send mail" in wrong.text
    assert guest.send("/account/deletion", {"password": "wrong1"}).status_code == 401


def test_an_address_is_verified_by_the_code_of_its_mail(api, come):
    guest = come()
    guest.log_in(api.player().name)
    guest.send("/account/addresses", {"addresses": "code@example.org"})
    account = api.parts.accounts.id_of(guest.name)
    codes = VerificationCodes(api.parts.data, api.parts.store.now)
    code = codes.issue(account, "code@example.org")
    assert guest.send("/account/verify", {"code": "wrong"}).status_code == 422
    assert guest.send("/account/verify", {"code": code.upper()}).status_code == 303
    assert "verified</span>" in guest.page("/account")


def test_a_sign_up_for_whose_mailbox_no_code_is_sent_leads_to_a_page_that_says_so(tmp_path):
    with Api(tmp_path, relay="smtp://127.0.0.1:1") as api, door(api) as come:
        for n in range(6):
            guest = come()
            fields = {
                "userid": f"fan{n}",
                "password": "tern-5-lamps",
                "address": f"v+{n}@example.net",
            }
            sent = guest.send("/signup", fields, on="/signup")
            assert sent.headers["location"] == ("/account#mail" if n == 5 else "/")
            page = guest.page("/account")
            said = (
                "No code was sent to your address, because too many were requested today;" in page
            )
            assert said is (n == 5)
            assert ("not verified yet: reply to our e-mail" in page) is (n < 5)
        page = guest.page("/account", headers={"Accept-Language": "de"})
        assert "An die Adresse ging kein Code, weil heute schon zu viele verlangt wurden;" in page


def test_a_name_that_is_too_long_is_refused_and_not_cut(come):
    answer = come().send("/signup", {"userid": "x" * 50, "password": "yes-we-can"}, on="/signup")
    assert answer.status_code == 422
    assert "isn&#39;t a userid: a letter, then 1 to 19" in answer.text
    assert f'value="{"x" * 50}"' in answer.text
    assert 'id="wrong-userid"' in answer.text


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
