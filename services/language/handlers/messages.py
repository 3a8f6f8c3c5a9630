"""Commands with which players write to each other: message, messages, broadcast, chat."""

from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.match.events import AccountId, command_id
from infra.people.messages import PlayerMessage
from services.app import messages as use_cases
from services.app.names import join_names, names_by_seat
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.invocation import Invocation
from services.language.render.bounced_addresses import bounced_address_lines
from services.language.render.dates import instant

_SHOWN = 20
"""Messages shown at once, unless more than these are new."""


def message(call: Invocation) -> Answer:
    """Write to players."""
    account = call.account()
    to = _read_recipients(call)
    use_cases.send_message(call.app, account, to, text_of(call), _id(call, account))
    found = names_by_seat(call.app, to)
    return Answer(f"{join_names(found)} {'finds' if len(to) == 1 else 'find'} it in `messages`")


def _read_recipients(call: Invocation) -> list[AccountId]:
    """Return the accounts of a message's recipients."""
    if not call.line.has("recipients"):
        userids = call.line.get("recipient").split(",")
        if "" in userids:
            raise Refusal(Code.USAGE, "write one comma and no blank between userids")
        return use_cases.find_recipients(call.app, userids)
    userids = call.line.get("recipients").replace(",", " ").split()
    try:
        return use_cases.find_recipients(call.app, userids)
    except Refusal as reason:
        hint = "a text of several lines begins on the second"
        raise Refusal(reason.code, f"{reason.sentence}; {hint}") from None


def messages(call: Invocation) -> Answer:
    """Show a player's messages, with all that are new, and mark them as read."""
    account = call.account()
    store = call.app.messages
    # read before counting, because a message that comes in between is not shown and stays new
    received, new = use_cases.inbox(call.app, account), store.unread(account)
    newest = received[: max(new, _SHOWN)]
    page = _page(call, newest) or "nobody has written to you"
    store.mark_read(account, newest)
    lines = [*bounced_address_lines(call.profile(account)), page]
    return Answer(f"{new} new" if new else "", "\n".join(lines))


def broadcast(call: Invocation) -> Answer:
    """Write to everybody, as an arbiter."""
    account = call.account()
    use_cases.broadcast(call.app, account, text_of(call), _id(call, account))
    return Answer("everybody finds it in `messages`")


def chat(call: Invocation) -> Answer:
    """Write to the players of a match, or show their chat; nobody else can."""
    board, account = call.board, call.account()
    if call.line.has("text") or call.line.has("body"):
        use_cases.write_chat(call.app, board, account, text_of(call), _id(call, account))
        return Answer(f"said in match {board}")
    page = _page(call, use_cases.read_chat(call.app, board, account))
    return Answer(page=page or f"nothing was said in match {board} yet")


def mute(call: Invocation) -> Answer:
    """Mute the chat of a match."""
    board = read_board(call.line.get("board"))
    use_cases.mute_chat(call.app, board, call.account())
    return Answer(f"the chat of match {board} brings you no notices and no mails")


def unmute(call: Invocation) -> Answer:
    """End the muting of the chat of a match."""
    board = read_board(call.line.get("board"))
    use_cases.unmute_chat(call.app, board, call.account())
    return Answer(f"the chat of match {board} brings you notices and mails again")


def text_of(call: Invocation) -> str:
    """Return the text of a command; refused if the password stands in it by mistake."""
    text = call.line.get("text") or call.line.get("body")
    password = call.line.get("password")
    if password and f" {password} " in f" {' '.join(text.split())} ":
        raise Refusal(Code.BAD_REQUEST, "the password is in the text, too; nothing was sent")
    return text


def _id(call: Invocation, account: AccountId) -> bytes:
    return command_id(call.via, account, call.key)


def _page(call: Invocation, entries: Sequence[PlayerMessage]) -> str:
    """Return messages as text, each after its time and its writer."""
    names = names_by_seat(call.app, [entry.sender for entry in entries])
    return "\n".join(
        f"{instant(entry.at)} {name}{_to(entry)}: {_indented(entry.text)}"
        for entry, name in zip(entries, names, strict=True)
    )


def _to(entry: PlayerMessage) -> str:
    return " to everybody" if entry.kind == "broadcast" else ""


def _indented(text: str) -> str:
    """Return a text with its lines after the first indented, so that none looks like a message."""
    # at every character that some programs show as a line's end, such as U+2028
    return "\n    ".join(text.splitlines())
