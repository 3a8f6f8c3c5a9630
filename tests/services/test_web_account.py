"""The account by the web: preferences, vacations, and news."""

import re

from infra.people.unread import UnreadCounts
from services.app.matches import load_state
from tests.fakes.tokens import check, check_one
from tests.helpers.api import until
from tests.services.matches_by_form import start


def test_preferences_addresses_and_tokens_are_kept(api, come):
    guest = come()
    guest.log_in(api.player().name)
    fields = {"language": "de", "notify": "daily", "display-pow2": "small"}
    assert guest.send("/account/preferences", fields).status_code == 303
    answer = guest.send("/account/addresses", {"addresses": "a@example.org, b@example.org"})
    assert answer.status_code == 303
    profile = api.parts.accounts.record_of(api.parts.accounts.id_of(guest.name))
    assert (profile.language, profile.notify) == ("de", "daily")
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


def test_a_vacation_is_taken_without_the_password_because_who_takes_it_is_logged_in(api, pair):
    one, two = pair
    board = start(one, two)
    api.caught_up()
    answer = one.send("/account/vacation", {"days": "3"})
    assert "you are on vacation until" in answer.text.lower()
    until(lambda: load_state(api.parts, board).clock.stops)
    assert one.send("/account/vacation", {"days": "31"}).status_code == 422
    assert one.send("/account/vacation", {"days": "a b"}).status_code == 422
    assert one.send("/account/vacation", {"days": "back"}).status_code == 200


def test_what_others_write_is_news_until_the_match_is_looked_at(api, pair):
    one, two = pair
    board = start(one, two)
    account = api.parts.accounts.id_of(two.name)
    said = one.send(f"/m/{board}/chat", {"text": "hello - you"}, on=f"/m/{board}")
    assert said.status_code == 303
    api.parts.messages.send(api.parts.accounts.id_of(one.name), [account], "hi", bytes(16))
    assert api.parts.unread.counts(account) == UnreadCounts({board: 1}, 1)
    home = two.page("/")
    assert "here is new chat in the match with" in home
    assert "omebody has written to you" in home
    assert "/m/0" not in home
    assert "hello - you" in two.page(f"/m/{board}")
    assert api.parts.unread.counts(account) == UnreadCounts({}, 1)
