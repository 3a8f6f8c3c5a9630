"""Reports to the moderators: of a player, of a player's newest message, or of their newest line in a chat."""

from collections.abc import Iterable

from infra.people.messages import CHAT_LIMIT, MessageKind, PlayerMessage
from infra.people.moderation import ReportReason
from services.app import moderation as use_cases
from services.app.messages import inbox, read_chat
from services.app.typed_values import read_choice
from services.language.answer import Answer
from services.language.arguments import read_board
from services.language.handlers.messages import text_of
from services.language.invocation import Invocation

REASONS = "|".join(ReportReason)
"""The reasons, as usages name them."""


def report(call: Invocation) -> Answer:
    """Report a player, or a text of theirs."""
    app, account, userid = call.app, call.account(), call.line.all("userid")[1]
    reason, words = read_choice(ReportReason, call.line.get("value").lower()), text_of(call)
    if call.line.has("of_message"):
        letters = (one for one in inbox(app, account) if one.kind is MessageKind.MESSAGE)
        use_cases.report_message(app, account, _newest(call, userid, letters), reason, words)
    elif call.line.has("of_chat"):
        board = read_board(call.line.get("of_chat"), call.words)
        lines = reversed(read_chat(app, board, account, CHAT_LIMIT))
        use_cases.report_chat(app, account, board, _newest(call, userid, lines), reason, words)
    else:
        use_cases.report_player(app, account, userid, reason, words)
    said = call.words.gettext(
        "the moderators will look at it, and you'll get a message when they have decided"
    )
    return Answer(said)


def _newest(call: Invocation, userid: str, texts: Iterable[PlayerMessage]) -> int:
    """Return when the first of these by a player was written, ms; 0, when nothing was, if there is none."""
    about = call.app.accounts.id_of(userid)
    return next((one.at for one in texts if one.sender == about), 0)
