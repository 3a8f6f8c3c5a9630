"""Sanctions at work: they keep a player from writing to others, and from starting matches."""

from typing import Final

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.moderation import DAY_MS, Sanction, SanctionKind
from infra.sentences import day_of
from services.app.context import App
from services.app.names import owner_of
from services.app.sentences import SAY
from services.app.typed_values import typed_number

MOST_DAYS: Final = 3_650


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
    """Return the sanction of a kind that holds for an account, or the owner of a bot, the longest; None if none does."""
    whose = filter(None, (account, owner_of(app, account)))
    found = [one for who in whose for one in app.moderation.of(who) if one.kind is kind]
    if not found:
        return None
    now = app.store.now()
    held = [one for one in found if one.holds(now)]
    return max(held, key=lambda one: one.until or float("inf"), default=None)


def end_after(app: App, days: int) -> int:
    """Return when so many days from now end, in ms; 0 for 0 days, which have no end. `bad-option` for others."""
    if not 0 <= days <= MOST_DAYS:
        raise _bad_days()
    return app.store.now() + days * DAY_MS if days else 0


def read_days(text: str) -> int:
    """Return a number of days as it was typed, 0 for nothing; `bad-option` for anything else."""
    days = typed_number(text or "0")
    if days is None:
        raise _bad_days()
    return days


def _bad_days() -> Refusal:
    return Refusal(Code.BAD_OPTION, SAY("sanction-days", most=MOST_DAYS))
