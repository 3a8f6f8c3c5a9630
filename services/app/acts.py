"""The record of acts: each act of an operator, a moderator or an arbiter is noted when it has been done."""

from typing import Final

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.acts import MOST_OF_REASON, TERMINAL, Act, RecordedAct
from services.app.context import App
from services.app.roles import require_moderator
from services.app.sentences import SAY

__all__ = ["PAGE", "TERMINAL", "Act", "acts_of", "check_reason", "record_act"]

PAGE: Final = 50
"""Acts that are read at once."""


def check_reason(why: str) -> None:
    """Refuse a reason that is `too-long`, before anything is done for it."""
    if len(why) > MOST_OF_REASON:
        raise Refusal(Code.TOO_LONG, SAY("act-reason", most=MOST_OF_REASON))


def record_act(
    app: App,
    by: AccountId,
    act: Act,
    account: AccountId = b"",
    *,
    what: str = "",
    why: str = "",
) -> None:
    """Record an act that has been done: by an account or `TERMINAL`, to an account, or about something else.

    A crash between the two leaves an act without its record; the security log has it in any case.
    """
    app.acts.append(by, act, account, what, why)


def acts_of(app: App, reader: AccountId, before: str = "") -> list[RecordedAct]:
    """Return a page of the record, the newest first; `not-a-moderator` for anybody else."""
    if reader != TERMINAL:
        require_moderator(app, reader)
    return app.acts.newest(PAGE, before)
