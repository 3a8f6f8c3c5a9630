"""Apps: registering one, seeing and ending what apps may do, and answering a device that asks.

What the protocol asks of an app itself is in `services.app.oauth`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.apps import RegisteredApp
from infra.people.device_codes import DeviceRequest
from infra.people.grants import CODE_SECONDS
from infra.people.rate_limits import SecurityEvent, note_security
from infra.people.tokens import Scope
from infra.sentences import SAY as OF_PEOPLE
from services.app.context import App
from services.app.sentences import SAY


class ConnectedApp(NamedTuple):
    """An app that a player has let act for them."""

    client_id: str
    name: str
    site: str
    """The address of its own page; empty for none."""
    owner: str
    """The userid of the player who has registered it; empty for the one that is a part of this program."""
    scopes: tuple[Scope, ...]
    since: int
    """Milliseconds."""
    last_used: int
    """Start of the day of its last use, in ms."""


class WaitingDevice(NamedTuple):
    """A device that waits for its user."""

    app: RegisteredApp
    request: DeviceRequest


def register_app(
    app: App, account: AccountId, name: str, site: str, redirects: Sequence[str]
) -> RegisteredApp:
    """Register an app of a player; `bad-option`, `too-many`."""
    app.ready()
    return app.apps.register(account, name, site, tuple(redirects))


def remove_app(app: App, account: AccountId, client_id: str) -> None:
    """Remove an app of a player, with all that it has of other players; `not-found`."""
    app.ready()
    if not any(one.client_id == client_id for one in app.apps.of(account)):
        raise Refusal(Code.NOT_FOUND, OF_PEOPLE("no-app"))
    app.grants.remove_app(client_id)


def owner_of(app: App, found: RegisteredApp) -> str:
    """Return the userid of the player who has registered an app; empty for the one of this program."""
    return (app.accounts.name_of([found.owner])[0] or "") if found.owner else ""


def connected_apps(app: App, account: AccountId) -> list[ConnectedApp]:
    """Return the apps that a player has let act for them, the newest first."""
    found: dict[str, ConnectedApp] = {}
    uses = {one.grant: one.last_used or 0 for one in app.tokens.list_of(account) if one.grant}
    for one in app.grants.of(account):
        grant = one.grant
        if not grant.used:  # the app has not fetched its token yet
            continue
        known = found.get(grant.app)
        registered = app.apps.get(grant.app)
        if registered is None:  # its removal was cut short
            app.grants.end_app(account, grant.app)
            continue
        day = 86_400_000
        last = max(uses.get(one.id, 0), grant.used // day * day, known.last_used if known else 0)
        scopes = {*grant.scopes, *(known.scopes if known else ())}
        found[grant.app] = ConnectedApp(
            client_id=grant.app,
            name=registered.name,
            site=registered.site,
            owner=known.owner if known else owner_of(app, registered),
            scopes=tuple(scope for scope in Scope if scope in scopes),
            since=grant.created,
            last_used=last,
        )
    return list(found.values())


def disconnect_app(app: App, account: AccountId, client_id: str) -> None:
    """End all that a player has let an app do, with its tokens; `not-found`."""
    app.ready()
    if not app.grants.end_app(account, client_id):
        raise Refusal(Code.NOT_FOUND, SAY("not-connected"))


def note_allowed(account: AccountId, client_id: str) -> None:
    """Note in the security log that a player has let an app act for them."""
    note_security(SecurityEvent.APP_ALLOWED, account, app=client_id)


def waiting_device(app: App, account: AccountId, code: str) -> WaitingDevice:
    """Return the device that waits with this code of its user; `not-found`, `too-many-attempts`."""
    request = app.device_codes.of_user(code, account)
    found = app.apps.get(request.app) if request else None
    if request is None or found is None:
        raise Refusal(Code.NOT_FOUND, OF_PEOPLE("no-device"))
    return WaitingDevice(found, request)


def answer_device(app: App, account: AccountId, code: str, *, allowed: bool) -> RegisteredApp:
    """Let a device act for a player, or refuse it, and return its app; as `waiting_device`, and `too-many`."""
    app.ready()
    found, request = waiting_device(app, account, code)
    if not allowed:
        refused = msgspec.structs.replace(request, account=account, refused=True)
        app.device_codes.answer(code, request, refused)
        return found
    left = max(CODE_SECONDS, (request.until - app.store.now()) // 1000)
    id_, _ = app.grants.begin(
        account, found.client_id, request.scopes, device=request.device, seconds=left
    )
    # crash window: a grant that nobody can use, which is over when the request would be
    answered = msgspec.structs.replace(request, account=account, grant=id_)
    try:
        app.device_codes.answer(code, request, answered)
    except Refusal:
        app.grants.end(account, id_)
        raise
    note_allowed(account, found.client_id)
    return found
