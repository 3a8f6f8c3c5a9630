"""Blocks: block, unblock."""

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.app.context import App
from services.app.names import listed
from services.language.answer import Answer
from services.language.invocation import Invocation


def block(call: Invocation) -> Answer:
    """Block a player, or list whom one blocks."""
    account = call.account()
    if len(call.line.all("userid")) == 1:
        names = blocked_by(call.app, account)
        return Answer(f"you block {listed(names)}" if names else "you block nobody")
    call.app.ready()
    add_block(call.app, account, call.line.all("userid")[1])
    return Answer(
        "from now on they can't challenge you, write to you or chat where you read it; "
        "matches that you have with them go on"
    )


def unblock(call: Invocation) -> Answer:
    """End a block."""
    account = call.account()
    call.app.ready()
    remove_block(call.app, account, call.line.all("userid")[1])
    return Answer("they can challenge you and write to you again")


def add_block(app: App, account: AccountId, name: str) -> None:
    """Block the player of a userid; `unknown-user`, `too-many`, and `bad-option` for oneself."""
    other = app.accounts.id_of(name)
    if other == account:
        raise Refusal(Code.BAD_OPTION, "you can't block yourself")
    app.blocks.add(account, other)


def remove_block(app: App, account: AccountId, name: str) -> None:
    """Unblock the player of a userid, who need not be blocked; `unknown-user`."""
    app.blocks.remove(account, [app.accounts.id_of(name)])


def blocked_by(app: App, account: AccountId) -> list[str]:
    """Return the userids of those an account blocks, sorted; who was erased is forgotten."""
    others = app.blocks.of(account)
    names = app.accounts.name_of(others)
    app.blocks.remove(
        account, [other for other, name in zip(others, names, strict=True) if name is None]
    )
    return sorted(name for name in names if name is not None)
