"""Sanctions at work: they keep a player from writing to others, and from starting matches."""

from datetime import UTC, datetime

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.moderation import Sanction, SanctionKind
from services.app.context import App
from services.app.refusal_words import SAY


def check_may_write(app: App, account: AccountId) -> None:
    """Refuse a text to others by a player who is kept from writing: `sanctioned`."""
    held = sanction_held(app, account, SanctionKind.NO_CHAT)
    if held and held.until:
        raise Refusal(Code.SANCTIONED, SAY("may-not-write-until", day=day_of(held.until)))
    if held:
        raise Refusal(Code.SANCTIONED, SAY("may-not-write"))


def check_may_start(app: App, account: AccountId) -> None:
    """Refuse a new match by a player who is kept from starting any: `sanctioned`. Those that run go on."""
    held = sanction_held(app, account, SanctionKind.NO_MATCHES)
    if held and held.until:
        raise Refusal(Code.SANCTIONED, SAY("may-not-start-until", day=day_of(held.until)))
    if held:
        raise Refusal(Code.SANCTIONED, SAY("may-not-start"))


def sanction_held(app: App, account: AccountId, kind: SanctionKind) -> Sanction | None:
    """Return the sanction of a kind that holds for an account the longest; None if none does."""
    found = [one for one in app.moderation.of(account) if one.kind is kind]
    if not found:
        return None
    now = app.store.now()
    held = [one for one in found if one.holds(now)]
    return max(held, key=lambda one: one.until or float("inf"), default=None)


def day_of(at: int) -> str:
    """Return the day of a time, in ms, such as `2026-12-05`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d}"
