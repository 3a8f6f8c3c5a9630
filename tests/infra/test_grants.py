"""Apps and grants in their keys: on one server and on a cluster, at the same moment, and cut short."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code
from infra.people import grants as module
from infra.people.accounts import Accounts
from infra.people.apps import Apps
from infra.people.device_codes import DeviceCodes
from infra.people.grants import LASTS_DAYS, MOST_GRANTS, MOST_OF_APP, UNUSED_DAYS, Grants
from infra.people.tokens import Scope, Tokens
from infra.redis import keys
from infra.redis.clients import time_ms
from tests.fakes.app import CHEAP
from tests.helpers.examples import next_millisecond, refused

READ = (Scope.READ,)
DAY = 86_400_000
BACK = "http://127.0.0.1/back"


@pytest.fixture(params=[False, True], ids=["server", "cluster"])
def client(request: pytest.FixtureRequest) -> Redis:
    return request.getfixturevalue("cluster_client" if request.param else "redis_client")


@pytest.fixture
def one(client):
    return Accounts(client, CHEAP).signup("alice", "mad-hatter-1")


@pytest.fixture
def app(client) -> str:
    owner = Accounts(client, CHEAP).signup("lewis", "mad-hatter-1")
    return Apps(client).register(owner, "Board Watch", "", (BACK,)).client_id


def opened(client: Redis, account: bytes, app: str, code: str = "") -> str:
    """Use a code, and give the refresh token; a token is issued, as a front end does."""
    grants = Grants(client)
    found = grants.of_code(code or grants.begin(account, app, READ)[1], app)
    text = grants.use(found, refreshes=True)
    Tokens(client).issue(account, "Board Watch", READ, seconds=60, app=app, grant=found.id)
    return text


def test_a_grant_lives_and_ends_with_its_tokens_and_its_app_with_all_grants(client, one, app):
    grants, apps, tokens = Grants(client), Apps(client), Tokens(client)
    first, second = opened(client, one, app), opened(client, one, app)
    assert len(tokens.list_of(one)) == 2
    assert set(apps.users(app)) == {one}
    found = grants.of_refresh_token(first, app)
    assert grants.end(one, found.id)
    assert not grants.end(one, found.id)
    assert [token.grant for token in tokens.list_of(one)] == [grants.of(one)[0].id]
    assert set(apps.users(app)) == {one}
    assert grants.remove_app(app)
    assert grants.of_refresh_token(second, app) is None
    assert tokens.list_of(one) == []
    assert set(apps.users(app)) == set()
    assert apps.get(app) is None


def test_of_many_who_use_a_code_at_once_one_does_and_all_is_ended(client, one, app):
    grants = Grants(client)
    _, code = grants.begin(one, app, READ)
    # all have seen it unused
    found = [grants.of_code(code, app) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda it: grants.use(it, refreshes=True), found))
    assert len([text for text in texts if text]) == 1
    assert grants.of(one) == []


def test_a_device_is_answered_once(client, one, app):
    codes = DeviceCodes(client)
    device, user = codes.ask(app, READ)
    asked = codes.of_device(device)
    assert codes.of_user(user.lower(), one) == asked
    codes.answer(user, asked, type(asked)(app=app, scopes=READ, until=0, device=b"", refused=True))
    refused(Code.NOT_FOUND, codes.answer, user, asked, asked)
    assert codes.of_user(user, one) is None
    assert not codes.is_hasty(device)
    assert codes.is_hasty(device)


def test_nothing_is_begun_for_an_account_or_an_app_that_is_gone(client, one, app):
    grants, apps = Grants(client), Apps(client)
    apps.remove(app)
    refused(Code.NOT_FOUND, grants.begin, one, app, READ)
    assert grants.of(one) == []
    assert set(apps.users(app)) == set()
    client.delete(keys.account(one))
    refused(Code.UNKNOWN_USER, grants.begin, one, "matchpost-terminal", READ)
    refused(Code.UNKNOWN_USER, apps.register, one, "A", "", ())


def test_grants_are_limited_and_those_that_nobody_uses_end(client, one, monkeypatch):
    owners = [Accounts(client, CHEAP).signup(f"owner-{n}", "mad-hatter-1") for n in range(2)]
    grants = Grants(client)
    apps = [
        Apps(client).register(owner, "A", "", ()).client_id
        for owner in owners
        for _ in range(MOST_GRANTS // MOST_OF_APP // 2)
    ]
    for app in MOST_OF_APP * apps:
        grants.begin(one, app, READ)
    # another one of an app takes the place of its oldest
    grants.begin(one, apps[0], READ)
    refused(Code.TOO_MANY, grants.begin, one, "matchpost-terminal", READ)
    grants.end_all(one)
    text = opened(client, one, apps[0])
    old = grants.of_refresh_token(text, apps[0]).grant
    now = time_ms(client)
    for days, lasts in ((UNUSED_DAYS - 1, True), (UNUSED_DAYS + 1, False)):
        monkeypatch.setattr(module, "time_ms", lambda _, days=days: now + days * DAY)
        assert bool(grants.of_refresh_token(text, apps[0])) is lasts
        assert bool(grants.of(one)) is lasts
    # one that is used all the time ends after a year
    busy = replace(old, used=now + (LASTS_DAYS - 1) * DAY)
    assert module._end_of(busy) == old.created + LASTS_DAYS * DAY


def test_codes_that_nobody_uses_end_no_grant_that_is_used(client, one, app):
    grants = Grants(client)
    text = opened(client, one, app)
    codes = []
    for _ in range(2 * MOST_OF_APP):
        next_millisecond()
        codes.append(grants.begin(one, app, READ)[1])
    assert grants.of_refresh_token(text, app)
    assert [bool(grants.of_code(code, app)) for code in codes] == [False] * 5 + [True] * 5
    for code in codes[-4:]:
        opened(client, one, app, code)
    assert grants.of_refresh_token(text, app)
    opened(client, one, app, codes[5])
    assert grants.of_refresh_token(text, app) is None
    assert len(Tokens(client).list_of(one)) == MOST_OF_APP
