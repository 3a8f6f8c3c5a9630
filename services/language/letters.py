"""What players write to each other: message, messages, broadcast, chat."""

from domain.errors import Code, Refusal
from domain.match.decide import seat_of
from domain.match.events import AccountId, command_id
from infra.letters import Letter
from services.language.answer import Answer
from services.language.boards import present
from services.language.desk import Call
from services.language.reading import read_board
from services.language.telling import listed
from services.language.times import instant

_SHOWN = 20
"""Letters shown at once."""


def message(call: Call) -> Answer:
    """Write to players."""
    account = call.account()
    names = call.line.get("recipients").split() or call.line.get("recipient").split(",")
    to = [call.desk.accounts.id_of(name) for name in names]
    call.desk.ready()
    call.desk.letters.send(account, to, _text(call), _id(call, account))
    verb = "finds" if len(set(to)) == 1 else "find"
    found = [name for name in call.desk.accounts.name_of(list(dict.fromkeys(to))) if name]
    return Answer(f"{listed(found)} {verb} it in `messages`")


def messages(call: Call) -> Answer:
    """Show what was written to a player, and mark it as read."""
    account = call.account()
    letters = call.desk.letters
    new, shown = letters.unread(account), letters.read(account, _SHOWN)
    page = _page(call, shown) or "nobody has written to you"
    letters.mark_read(account, shown)
    return Answer(f"{new} new" if new else "", page)


def broadcast(call: Call) -> Answer:
    """Write to everybody, as an arbiter."""
    account = call.account()
    if not call.profile(account).arbiter:
        raise Refusal(Code.NOT_AN_ARBITER, "only arbiters write to everybody; try `message`")
    call.desk.ready()
    call.desk.letters.broadcast(account, _text(call), _id(call, account))
    return Answer("everybody finds it in `messages`")


def chat(call: Call) -> Answer:
    """Write to the players of a match, or show what they wrote; nobody else can."""
    board = read_board(call.line.get("board"))
    state = present(call, board)
    account = call.account()
    seat_of(account, state)
    if call.line.has("text") or call.line.has("body"):
        call.desk.ready()
        call.desk.letters.chat(board, account, _text(call), _id(call, account))
        return Answer(f"said in match {board}")
    said = _page(call, call.desk.letters.chat_of(board))
    return Answer(page=said or f"nothing was said in match {board} yet")


def _text(call: Call) -> str:
    return call.line.get("text") or call.line.get("body")


def _id(call: Call, account: AccountId) -> bytes:
    return command_id(call.door, account, call.key)


def _page(call: Call, letters: list[Letter]) -> str:
    """Give letters as text, each after its time and its writer."""
    names = call.desk.accounts.name_of([letter.sender for letter in letters])
    return "\n".join(
        f"{instant(letter.at)} {name or 'a former player'}{_to(letter)}: {_indented(letter.text)}"
        for letter, name in zip(letters, names, strict=True)
    )


def _to(letter: Letter) -> str:
    return " to everybody" if letter.kind == "broadcast" else ""


def _indented(text: str) -> str:
    """Set the lines after the first off, so that no text can look like another's line."""
    return text.replace("\n", "\n    ")
