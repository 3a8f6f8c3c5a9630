"""Webhooks and channels: where notices are sent, their deliveries, and tests and repetitions."""

from typing import Annotated

import msgspec
from litestar.params import JSONBody, PathParameter, QueryParameter

from domain.errors import Code
from infra.people.hooks import Delivery, Hook
from infra.people.tokens import Scope
from infra.settings.hook_hosts import LONGEST_ADDRESS
from services.app import hooks
from services.app.context import App
from services.app.hooks import MOST_LABEL, hook_at, hooks_at, place_of, shown_address
from services.app.names import userids_of
from services.app.passwords import check_recent_password
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody
from services.http.api.declared import ApiRoutes, refuses
from services.http.api.routes.accounts import RECENT_PASSWORD, Password
from services.words.hooks import answer_text

api = ApiRoutes("webhooks")

HookId = Annotated[str, PathParameter(max_length=32, description="the id of the webhook")]
DeliveryId = Annotated[str, PathParameter(max_length=64, description="the id of the delivery")]
OfClub = Annotated[
    str, QueryParameter(name="club", max_length=60, description="the path of a club that you own")
]
OfTournament = Annotated[
    int | None,
    QueryParameter(
        name="tournament", ge=1, le=10**15, description="the number of a tournament that you direct"
    ),
]

_PLACE = (Code.UNKNOWN_CLUB, Code.UNKNOWN_TOURNAMENT, Code.NOT_AN_ORGANISER)


class Webhook(msgspec.Struct, frozen=True):
    """A webhook or a channel."""

    id: str
    kind: str
    """`webhook` for signed JSON, or `apprise` for sentences in a chat."""
    label: str
    address: str
    """Of a webhook; of a channel only its host, because its address is a secret."""
    topics: tuple[str, ...]
    """The notices that are sent: `turn`, `challenge`, `offer`, `chat`, `over`, `tournament`; empty for a club or a tournament."""
    since: int
    """When it was made, in ms since 1970."""
    userid: str | None
    """The account that made it."""
    off: str | None
    """Why nothing is sent: `gone`, `failed` or `access`; null while it is on."""
    failing: int | None
    """Since when nothing has arrived, in ms since 1970; null while it works."""


class Webhooks(msgspec.Struct, frozen=True):
    """Webhooks and channels."""

    webhooks: tuple[Webhook, ...]
    """The newest first."""


class NewWebhook(RequestBody, frozen=True):
    """A webhook or a channel to make."""

    address: Annotated[
        str, msgspec.Meta(max_length=LONGEST_ADDRESS, examples=["https://example.org/matchpost"])
    ]
    topics: tuple[Annotated[str, msgspec.Meta(max_length=20)], ...] = ()
    """The notices to send; none for a club or a tournament."""
    label: Annotated[str, msgspec.Meta(max_length=MOST_LABEL)] = ""
    club: Annotated[str, msgspec.Meta(max_length=60)] = ""
    """The path of a club that you own, whose public news are sent then."""
    tournament: int | None = None
    """The number of a tournament that you direct, whose public news are sent then."""
    password: Password = ""
    """Required if your token is older than ten minutes."""


class WebhookPassword(RequestBody, frozen=True):
    """A change that may need the password."""

    password: Password = ""
    """Required if your token is older than ten minutes."""


class WebhookSecret(msgspec.Struct, frozen=True):
    """A webhook with its secret, which is not shown again."""

    id: str
    secret: str
    """That signs what is sent; empty for a channel."""


class WebhookDelivery(msgspec.Struct, frozen=True):
    """A notice for a webhook, and its tries."""

    id: str
    """The `webhook-id`, the same at each try."""
    kind: str
    """The kind of the notice; `test` for a test, and `news` for that of a club or a tournament."""
    board: int
    """The match or the tournament; 0 for messages."""
    at: int
    """Time of the event, in ms since 1970."""
    state: str
    """`waiting`, `sent`, `failed`, or `overtaken` if it did not hold any longer."""
    tries: int
    tried: int | None
    """When it was tried last, in ms since 1970."""
    due: int | None
    """When it is tried next, in ms since 1970."""
    status: int | None
    """The status of the last answer; null if there was none."""
    answer: str
    """The first letters of the last answer, or why there was none."""


class WebhookDeliveries(msgspec.Struct, frozen=True):
    """The deliveries of a webhook."""

    deliveries: tuple[WebhookDelivery, ...]
    """The newest first: those that wait, and the last 50 others."""


@api.get("/api/webhooks", "Your webhooks", Scope.ACCOUNT)
@refuses(*_PLACE, Code.UNAVAILABLE)
def list_webhooks(own: Own, club: OfClub = "", tournament: OfTournament = None) -> Webhooks:
    """Return your own webhooks and channels, or those of a club that you own or a tournament that you direct."""
    app, account = own.app, own.account
    found = hooks_at(app, account, place_of(app, account, club=club, tournament=tournament))
    userids = userids_of(app, (one.account for one in found))
    return Webhooks(tuple(_shown(app, one, userids[one.account], account) for one in found))


@api.post("/api/webhooks", "Make a webhook", Scope.ACCOUNT, status_code=201)
@refuses(Code.BAD_OPTION, Code.TOO_MANY, *_PLACE, *RECENT_PASSWORD)
def make_webhook(data: JSONBody[NewWebhook], own: Own) -> WebhookSecret:
    """Have notices sent to an address: signed JSON to one with `https`, sentences to one of a channel.

    A token alone is enough for ten minutes after it was made; later the password is required, too.
    """
    app, account = own.app, own.account
    check_recent_password(app, account, data.password, own.token.created)
    place = place_of(app, account, club=data.club, tournament=data.tournament)
    made = hooks.add_hook(
        *(app, account, data.address), label=data.label, topics=data.topics, place=place
    )
    return WebhookSecret(made.hook.id, made.secret)


@api.delete("/api/webhooks/{hook:str}", "Remove a webhook", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND, *_PLACE)
def remove_webhook(
    hook: HookId, own: Own, club: OfClub = "", tournament: OfTournament = None
) -> None:
    """Remove a webhook and its deliveries; with the club or the tournament also one that another has made."""
    place = place_of(own.app, own.account, club=club, tournament=tournament)
    own.app.hooks.remove(hook_at(own.app, own.account, hook, place))


@api.post("/api/webhooks/{hook:str}/secret", "Renew the secret of a webhook", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND, Code.BAD_OPTION, Code.UNAVAILABLE, *RECENT_PASSWORD)
def renew_webhook_secret(hook: HookId, data: JSONBody[WebhookPassword], own: Own) -> WebhookSecret:
    """Make another secret. For 24 hours each delivery is signed by both."""
    found = _confirmed(hook, data, own)
    return WebhookSecret(found.id, hooks.rotate_secret(own.app, found))


@api.post("/api/webhooks/{hook:str}/on", "Switch a webhook on", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND, *RECENT_PASSWORD)
def switch_webhook_on(hook: HookId, data: JSONBody[WebhookPassword], own: Own) -> None:
    """Send to a webhook again that was switched off."""
    hooks.switch_on(own.app, _confirmed(hook, data, own))


@api.post("/api/webhooks/{hook:str}/test", "Test a webhook", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND, Code.BAD_OPTION, Code.TOO_MANY)
def send_webhook_test(hook: HookId, own: Own) -> WebhookDelivery:
    """Send a test, once."""
    one = hooks.send_test(own.app, hook_at(own.app, own.account, hook))
    return _delivery(one)


@api.get("/api/webhooks/{hook:str}/deliveries", "Deliveries of a webhook", Scope.ACCOUNT)
@refuses(Code.NOT_FOUND)
def list_webhook_deliveries(hook: HookId, own: Own) -> WebhookDeliveries:
    """Return the deliveries that wait, and the last 50 others."""
    found = own.app.hooks.deliveries(hook_at(own.app, own.account, hook))
    return WebhookDeliveries(tuple(map(_delivery, found)))


@api.post(
    "/api/webhooks/{hook:str}/deliveries/{delivery:str}/again",
    "Send a delivery again",
    Scope.ACCOUNT,
)
@refuses(Code.NOT_FOUND, Code.BAD_OPTION, Code.TOO_MANY)
def send_webhook_again(hook: HookId, delivery: DeliveryId, own: Own) -> WebhookDelivery:
    """Send a delivery once more, under its id; one that waits is sent at once."""
    return _delivery(hooks.send_again(own.app, hook_at(own.app, own.account, hook), delivery))


def _confirmed(hook: str, data: WebhookPassword, own: Own) -> Hook:
    check_recent_password(own.app, own.account, data.password, own.token.created)
    return hook_at(own.app, own.account, hook)


def _shown(app: App, one: Hook, userid: str | None, viewer: bytes) -> Webhook:
    return Webhook(
        id=one.id,
        kind=one.kind,
        label=one.label,
        # what another has made is known by its host
        address=shown_address(app, one) if one.account == viewer else one.host,
        topics=one.topics,
        since=one.since,
        userid=userid,
        off=one.off,
        failing=one.failing or None,
    )


def _delivery(one: Delivery) -> WebhookDelivery:
    return WebhookDelivery(
        id=one.id,
        kind=one.kind or ("test" if one.test else "news"),
        board=one.board,
        at=one.at,
        state=one.state,
        tries=one.tries,
        tried=one.tried or None,
        due=one.due or None,
        status=one.status or None,
        answer=answer_text(one),
    )
