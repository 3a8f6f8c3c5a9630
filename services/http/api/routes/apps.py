"""The apps that a player has registered, and those that the player has let act for them."""

from typing import Annotated

import msgspec
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from infra.people.apps import LONGEST_ADDRESS, MOST_REDIRECTS, NAME_LENGTHS, RegisteredApp
from infra.people.tokens import Scope
from services.app import apps
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ApiRoutes, refuses

api = ApiRoutes("apps")

Address = Annotated[str, msgspec.Meta(max_length=LONGEST_ADDRESS)]
ClientId = Annotated[str, PathParameter(max_length=40, description="the client id of the app")]


class AppToRegister(RequestBody, frozen=True):
    """An app to register."""

    name: Annotated[
        str, msgspec.Meta(min_length=1, max_length=NAME_LENGTHS[-1], examples=["Board Watch"])
    ]
    redirect_uris: Annotated[
        tuple[Address, ...],
        msgspec.Meta(max_length=MOST_REDIRECTS, examples=[["http://127.0.0.1/callback"]]),
    ] = ()
    """Where a browser may be sent back to; none for an app that asks by device code alone."""
    site: Address = ""
    """The address of its own page; empty for none."""


class OwnApp(msgspec.Struct, frozen=True):
    """An app that the account has registered."""

    client_id: str
    """The text by which the app names itself; it is no secret."""
    name: str
    site: str
    redirect_uris: tuple[str, ...]
    created: int
    """Time at which it was registered, in ms since 1970."""


class AppConnection(msgspec.Struct, frozen=True):
    """An app that the account has let act for it."""

    client_id: str
    name: str
    site: str
    owner: str
    """The userid of the player who has registered it; empty for `matchpost login --device`."""
    scopes: tuple[Scope, ...]
    since: int
    """Time at which it was last let, in ms since 1970."""
    last_used: int
    """Start of the day of its last use, in ms since 1970."""


@api.get("/api/apps", "Your apps", Scope.ACCOUNT)
def list_apps(own: Own) -> list[OwnApp]:
    """Return the apps that the account has registered, the newest first."""
    return [_own_json(one) for one in own.app.apps.of(own.account)]


@api.post("/api/apps", "Register an app", Scope.ACCOUNT, status_code=201)
@refuses(Code.BAD_OPTION, Code.TOO_MANY)
def register_app(data: JSONBody[AppToRegister], own: Own) -> OwnApp:
    """Register an app, up to 10; it is not changed later, so that nobody has let another one."""
    made = apps.register_app(own.app, own.account, data.name, data.site, data.redirect_uris)
    return _own_json(made)


@api.delete("/api/apps/{client:str}", "Remove an app", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND)
def remove_app(client: ClientId, own: Own) -> None:
    """Remove an app of your own, with the tokens that it has of all players."""
    apps.remove_app(own.app, own.account, client)


@api.get("/api/account/apps", "Apps that act for you", Scope.ACCOUNT)
def list_connected_apps(own: Own) -> list[AppConnection]:
    """Return the apps that the account has let act for it, the newest first."""
    return [AppConnection(*one) for one in apps.connected_apps(own.app, own.account)]


@api.delete("/api/account/apps/{client:str}", "Disconnect an app", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND)
def disconnect_app(client: ClientId, own: Own) -> None:
    """End all that the account has let an app do, with its tokens, at once."""
    apps.disconnect_app(own.app, own.account, client)


def _own_json(one: RegisteredApp) -> OwnApp:
    return OwnApp(one.client_id, one.name, one.site, one.redirects, one.created)
