"""Commands with which players write to each other: message, messages, broadcast, chat."""

from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.records import AccountId, command_id
from infra.languages.wording import Wording
from infra.people.messages import PlayerMessage
from services.app import messages as use_cases
from services.app.names import names_by_seat
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.invocation import Invocation
from services.language.texts import bounced_address_lines

_SHOWN = 20
"""Messages shown at once, unless more than these are new."""


def message(call: Invocation) -> Answer:
    """Write to players."""
    account = call.account()
    to = _read_recipients(call)
    use_cases.send_message(call.app, account, to, text_of(call), _id(call, account))
    found = call.words.names(names_by_seat(call.app, to, call.words))
    if len(to) == 1:
        return Answer(call.words.gettext("%(name)s will find it in `messages`", name=found))
    return Answer(call.words.gettext("%(names)s will find it in `messages`", names=found))


def _read_recipients(call: Invocation) -> list[AccountId]:
    """Return the accounts of a message's recipients."""
    if not call.line.has("recipients"):
        userids = call.line.get("recipient").split(",")
        if "" in userids:
            said = call.words.gettext("separate userids by a comma, without spaces")
            raise Refusal(Code.USAGE, said)
        return use_cases.find_recipients(call.app, userids)
    userids = call.line.get("recipients").replace(",", " ").split()
    try:
        return use_cases.find_recipients(call.app, userids)
    except Refusal as reason:
        hint = call.words.gettext("a text of several lines has to begin on the second line")
        said = reason.in_language(call.words)
        raise Refusal(reason.code, f"{said}; {hint}") from None


def messages(call: Invocation) -> Answer:
    """Show a player's messages, with all that are new, and mark them as read."""
    account = call.account()
    store = call.app.messages
    # read before counting, because a message that comes in between is not shown and stays new
    received, new = use_cases.inbox(call.app, account), store.unread(account)
    newest = received[: max(new, _SHOWN)]
    page = _page(call, newest) or call.words.gettext("nobody has written to you")
    store.mark_read(account, newest)
    lines = [*bounced_address_lines(call.profile(account), call.words), page]
    said = call.words.gettext("%(count)s new", count=new)
    return Answer(said if new else "", "\n".join(lines))


def broadcast(call: Invocation) -> Answer:
    """Write to everybody, as an arbiter."""
    account = call.account()
    use_cases.broadcast(call.app, account, text_of(call), _id(call, account))
    return Answer(call.words.gettext("everybody will find it in `messages`"))


def chat(call: Invocation) -> Answer:
    """Write to the players of a match, or show their chat; nobody else can."""
    board, account = call.board, call.account()
    if call.line.has("text") or call.line.has("body"):
        use_cases.write_chat(call.app, board, account, text_of(call), _id(call, account))
        return Answer(call.words.gettext("said in match %(board)s", board=board))
    page = _page(call, use_cases.read_chat(call.app, board, account))
    nothing = call.words.gettext("nobody has said anything in match %(board)s yet", board=board)
    return Answer(page=page or nothing)


def mute(call: Invocation) -> Answer:
    """Mute the chat of a match."""
    board = read_board(call.line.get("board"), call.words)
    use_cases.mute_chat(call.app, board, call.account())
    said = call.words.gettext(
        "you won't get notices or mail about the chat of match %(board)s", board=board
    )
    return Answer(said)


def unmute(call: Invocation) -> Answer:
    """End the muting of the chat of a match."""
    board = read_board(call.line.get("board"), call.words)
    use_cases.unmute_chat(call.app, board, call.account())
    said = call.words.gettext(
        "you'll get notices and mail about the chat of match %(board)s again", board=board
    )
    return Answer(said)


def text_of(call: Invocation) -> str:
    """Return the text of a command; refused if the password stands in it by mistake."""
    text = call.line.get("text") or call.line.get("body")
    password = call.line.get("password")
    if password and f" {password} " in f" {' '.join(text.split())} ":
        said = call.words.gettext("your password is in the text, too, so nothing was sent")
        raise Refusal(Code.BAD_REQUEST, said)
    return text


def _id(call: Invocation, account: AccountId) -> bytes:
    return command_id(call.via, account, call.key)


def _page(call: Invocation, entries: Sequence[PlayerMessage]) -> str:
    """Return messages as text, each after its time and its writer."""
    words = call.words
    names = names_by_seat(call.app, [entry.sender for entry in entries], words)
    return "\n".join(
        f"{words.stamp(entry.at)} {_writer(entry, name, words)}: {_indented(entry.text)}"
        for entry, name in zip(entries, names, strict=True)
    )


def _writer(entry: PlayerMessage, name: str, words: Wording) -> str:
    if entry.kind == "broadcast":
        return words.gettext("%(name)s to everybody", name=name)
    return name


def _indented(text: str) -> str:
    """Return a text with its lines after the first indented, so that none looks like a message."""
    # at every character that some programs show as a line's end, such as U+2028
    return "\n    ".join(text.splitlines())
