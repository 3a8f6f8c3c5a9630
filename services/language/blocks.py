"""Blocks: block, unblock."""

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from services.language.answer import Answer
from services.language.desk import Call, Desk
from services.language.telling import listed


def block(call: Call) -> Answer:
    """Block a player, or list whom one blocks."""
    account = call.account()
    if len(call.line.all("userid")) == 1:
        names = blocked_by(call.desk, account)
        return Answer(f"you block {listed(names)}" if names else "you block nobody")
    call.desk.ready()
    add_block(call.desk, account, call.line.all("userid")[1])
    return Answer(
        "from now on they can't challenge you, write to you or chat where you read it; "
        "matches that you have with them go on"
    )


def unblock(call: Call) -> Answer:
    """End a block."""
    account = call.account()
    call.desk.ready()
    remove_block(call.desk, account, call.line.all("userid")[1])
    return Answer("they can challenge you and write to you again")


def add_block(desk: Desk, account: AccountId, name: str) -> None:
    """Block the player of a userid; `unknown-user`, `too-many`, and `bad-option` for oneself."""
    other = desk.accounts.id_of(name)
    if other == account:
        raise Refusal(Code.BAD_OPTION, "you can't block yourself")
    desk.blocks.add(account, other)


def remove_block(desk: Desk, account: AccountId, name: str) -> None:
    """Unblock the player of a userid, who need not be blocked; `unknown-user`."""
    desk.blocks.remove(account, [desk.accounts.id_of(name)])


def blocked_by(desk: Desk, account: AccountId) -> list[str]:
    """Return the userids of those an account blocks, sorted; who was erased is forgotten."""
    others = desk.blocks.of(account)
    names = desk.accounts.name_of(others)
    desk.blocks.remove(
        account, [other for other, name in zip(others, names, strict=True) if name is None]
    )
    return sorted(name for name in names if name is not None)
