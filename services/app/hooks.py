"""Webhooks and channels: where an account has its notices sent, and its clubs and tournaments their public news.

The address and the secrets of a hook are sealed by the key that seals the secrets of second factors. Of a channel, such as
one of Discord, the address is a secret and is never shown again.
"""

import secrets
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.mail.account_changes import account_change_mailer
from infra.people.accounts import AccountRole
from infra.people.accounts.record import AccountChange
from infra.people.accounts.second_factors import seal, unseal
from infra.people.clubs import ClubRole
from infra.people.hooks import (
    Delivery,
    DeliveryState,
    Hook,
    HookKind,
    HookSecrets,
    HookTopic,
)
from infra.people.sessions import new_id
from infra.settings.hook_hosts import (
    LONGEST_ADDRESS,
    AddressError,
    check_host,
    checked_address,
    read_hook_hosts,
)
from services.app.accounts import end_if_suspended, own_profile
from services.app.admission import admission_now
from services.app.clubs import club_at
from services.app.context import App
from services.app.roles import has_role
from services.app.sentences import SAY
from services.app.tournaments import check_directs, visible_state

CHANNELS: Final = {
    "discord": "discord.com", "slack": "hooks.slack.com", "tgram": "api.telegram.org", "ntfy": "", "ntfys": "",
    "matrix": "", "matrixs": "",
}  # fmt: skip
"""The services of channels by the scheme of their addresses, with their hosts; empty where the address has it."""

_NATIVE: Final = {
    "discord.com": "discord", "discordapp.com": "discord", "hooks.slack.com": "slack", "ntfy.sh": "ntfys",
}  # fmt: skip
"""Hosts whose own addresses are those of channels, too, as their services show them."""

_OPTIONS: Final = frozenset({"format", "mode", "priority", "tags", "thread"})
"""The options of an address of a channel; none of them says how to connect."""

MOST_LABEL: Final = 60
OLD_SECRET_MS: Final = 24 * 3_600_000
"""How long the secret before signs, too."""

_SECRET_BYTES: Final = 32
_MINUTE: Final = 60_000
_MOST_ASKED: Final = 5
"""Deliveries of a hook that are asked for within a minute."""

CLUB: Final = "club"
TOURNAMENT: Final = "tournament"

NO_ANSWERS: Final = {
    "hook-address": SAY("hook-address"),
    "hook-https": SAY("hook-https"),
    "hook-port": SAY("hook-port"),
    "hook-private": SAY("hook-private"),
    "hook-no-host": SAY("hook-no-host"),
    "hook-certificate": SAY("hook-certificate"),
    "hook-late": SAY("hook-late"),
    "hook-no-answer": SAY("hook-no-answer"),
    "hook-scheme": SAY("hook-scheme"),
}
"""Why an address can't be used, or has not answered, by the keys that are stored."""


class NewHook(msgspec.Struct, frozen=True):
    """A hook that was made."""

    hook: Hook
    secret: str
    """That signs a webhook; it is not shown again. Empty for a channel."""


def place_of(app: App, account: AccountId, *, club: str = "", tournament: int | None = None) -> str:
    """Return the place of hooks of a club that the account owns, or of a tournament that it directs, or of its own.

    `unknown-club`, `unknown-tournament`, `not-an-organiser`.
    """
    if club:
        found = club_at(app, account, club)
        if not _owns(app, account, found.id):
            raise Refusal(Code.NOT_AN_ORGANISER, SAY("owners-only", club=found.name))
        return f"{CLUB}:{found.id}"
    if tournament is not None:
        check_directs(app, account, visible_state(app, account, tournament))
        return f"{TOURNAMENT}:{tournament}"
    return ""


def _owns(app: App, account: AccountId, club: str) -> bool:
    is_owner = app.clubs.role_of(club, account) is ClubRole.OWNER
    return is_owner or has_role(app, account, AccountRole.OPERATOR)


def may_have(app: App, hook: Hook) -> bool:
    """Return whether the account that made a hook may still have what is sent to it."""
    profile = app.accounts.record_of(hook.account)
    if profile is None or profile.suspended:
        return False
    kind, _, id_ = hook.place.partition(":")
    if kind and admission_now(app).for_members_only:
        return False  # nothing here is public
    if kind == CLUB:
        club = app.clubs.get(id_)
        return club is not None and not club.closed and _owns(app, hook.account, id_)
    with suppress(Refusal):
        if kind:
            check_directs(app, hook.account, visible_state(app, hook.account, int(id_)))
        return True
    return False


def hooks_at(app: App, account: AccountId, place: str) -> list[Hook]:
    """Return an account's own hooks, or those of a place of `place_of`, the newest first."""
    if place:
        return app.hooks.of_place(place)
    return [one for one in app.hooks.of(account) if not one.place]


def hook_at(app: App, account: AccountId, id_: str, place: str = "") -> Hook:
    """Return a hook that the account has made, or one of a place of `place_of`; `not-found`."""
    hook = app.hooks.get(account, id_)
    if hook is not None:
        return hook
    for one in hooks_at(app, account, place):
        if one.id == id_:
            return one
    raise Refusal(Code.NOT_FOUND, SAY("no-hook"))


def add_hook(
    app: App, account: AccountId, address: str, *, label: str, topics: Sequence[str], place: str
) -> NewHook:
    """Add a webhook, or a channel of one of `CHANNELS`, for own notices or for the public news of a place.

    `bad-option` for an address that can't be used, for topics that there are not, and where hooks are off; `too-many`.
    """
    if not app.settings.sends_hooks:
        raise Refusal(Code.BAD_OPTION, SAY("hooks-off"))
    if place and admission_now(app).for_members_only:
        raise Refusal(Code.BAD_OPTION, SAY("hooks-not-public"))
    kind, host = _read_address(app, address)
    webhook = kind is HookKind.WEBHOOK
    secret = _new_secret() if webhook else ""
    id_ = new_id()
    hook = Hook(
        id=id_,
        account=account,
        kind=kind,
        label="".join(one for one in label.strip() if one.isprintable())[:MOST_LABEL],
        host=host,
        sealed=_sealed(app, account, id_, HookSecrets(address, secret)),
        since=app.store.now(),
        topics=() if place else _read_topics(topics),
        place=place,
    )
    app.hooks.add(hook)
    end_if_suspended(app, account)
    mail = account_change_mailer(app.people, app.settings.mail_domain)
    mail(own_profile(app, account), AccountChange.HOOKS)
    return NewHook(hook, secret)


def _read_address(app: App, address: str) -> tuple[HookKind, str]:
    """Return the kind of a hook and its host."""
    hosts = read_hook_hosts(app.settings.hook_hosts)
    try:
        scheme = address.partition("://")[0].lower()
        if scheme in ("http", "https"):
            parts = checked_address(address, hosts)
            host = parts.hostname or ""
            if host not in _NATIVE:
                return HookKind.WEBHOOK, parts.netloc
            scheme = _NATIVE[host]
        if scheme not in CHANNELS:
            raise _refused("hook-scheme")
        return HookKind.APPRISE, _channel_host(address, scheme, hosts)
    except AddressError as error:
        raise _refused(error.key) from None


def _refused(key: str) -> Refusal:
    return Refusal(Code.BAD_OPTION, NO_ANSWERS[key])


def _channel_host(address: str, scheme: str, hosts: tuple[str, ...]) -> str:
    from infra.mail.hook_client import plugin_of  # noqa: PLC0415 - slow to import

    query = address.partition("?")[2]
    names = {one.partition("=")[0] for one in query.split("&") if one}
    usable = len(address) <= LONGEST_ADDRESS and address.isascii() and address.isprintable()
    plugin = plugin_of(address) if usable and names <= _OPTIONS else None
    if plugin is None:
        raise AddressError("hook-address")
    if CHANNELS[scheme]:
        return CHANNELS[scheme]
    if not plugin.host:
        return "ntfy.sh"
    secure = bool(plugin.secure)
    check_host(plugin.host, plugin.port or (443 if secure else 80), hosts, secure=secure)
    return f"{plugin.host}:{plugin.port}" if plugin.port else str(plugin.host)


def _read_topics(topics: Sequence[str]) -> tuple[HookTopic, ...]:
    known = {one.value for one in HookTopic}
    if not topics or not known.issuperset(topics):
        raise Refusal(Code.BAD_OPTION, SAY("hook-topics", known=", ".join(HookTopic)))
    return tuple(one for one in HookTopic if one in topics)


def _new_secret() -> str:
    return f"whsec_{b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"


def _sealed(app: App, account: AccountId, id_: str, found: HookSecrets) -> bytes:
    # bound to the hook, so that one can't be put in the place of another
    return seal(app.accounts.macs, account + id_.encode(), msgspec.msgpack.encode(found))


def secrets_of(app: App, hook: Hook) -> HookSecrets:
    """Return what is sealed of a hook; `unavailable` if this process lacks the key."""
    data = unseal(app.accounts.macs, hook.account + hook.id.encode(), hook.sealed)
    return msgspec.msgpack.decode(data, type=HookSecrets)


def shown_address(app: App, hook: Hook) -> str:
    """Return the address of a webhook, and the host alone of a channel."""
    return secrets_of(app, hook).address if hook.kind is HookKind.WEBHOOK else hook.host


def rotate_secret(app: App, hook: Hook) -> str:
    """Make another secret of a webhook, and return it; the one before signs, too, for a day. `bad-option` for a channel."""
    if hook.kind is not HookKind.WEBHOOK:
        raise Refusal(Code.BAD_OPTION, SAY("hook-no-secret"))
    secret, until = _new_secret(), app.store.now() + OLD_SECRET_MS

    def changed(one: Hook) -> Hook:
        found = secrets_of(app, one)
        found = replace(found, secret=secret, old=found.secret, old_until=until)
        return replace(one, sealed=_sealed(app, one.account, one.id, found))

    _changed(app, hook, changed)
    return secret


def switch_on(app: App, hook: Hook) -> None:
    """Send to a hook again that was switched off; what happened meanwhile is not sent."""
    _changed(app, hook, lambda one: replace(one, off=None, failing=0))


def _changed(app: App, hook: Hook, change: Callable[[Hook], Hook]) -> None:
    if app.hooks.change(hook, change) is None:
        raise Refusal(Code.NOT_FOUND, SAY("no-hook"))


def send_test(app: App, hook: Hook) -> Delivery:
    """Queue a delivery that says that it is a test; `too-many` in a minute, `bad-option` for a hook that is off."""
    _check_asked(app, hook)
    now = app.store.now()
    one = Delivery.of(hook, now, test=True, once=True)
    app.hooks.queue(hook, one)
    return one


def send_again(app: App, hook: Hook, id_: str) -> Delivery:
    """Queue a delivery once more under its id; `not-found`, and as `send_test`. One that waits is tried at once."""
    _check_asked(app, hook)
    found = app.hooks.delivery(hook.id, id_)
    if found is None:
        raise Refusal(Code.NOT_FOUND, SAY("no-delivery"))
    now = app.store.now()
    if found.once and found.tries > 1 and found.tried > now - _MINUTE // _MOST_ASKED:
        raise Refusal(Code.TOO_MANY, SAY("hook-asked", most=_MOST_ASKED))
    if found.state is not DeliveryState.WAITING:
        found = replace(found, state=DeliveryState.WAITING, once=True, tried=now)
    again = replace(found, due=now)
    app.hooks.store(again)
    return again


def _check_asked(app: App, hook: Hook) -> None:
    if hook.off:
        raise Refusal(Code.BAD_OPTION, SAY("hook-is-off"))
    since = app.store.now() - _MINUTE
    asked = [
        one for one in app.hooks.deliveries(hook) if one.once and max(one.at, one.tried) > since
    ]
    if len(asked) >= _MOST_ASKED:
        raise Refusal(Code.TOO_MANY, SAY("hook-asked", most=_MOST_ASKED))
