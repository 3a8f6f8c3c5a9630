"""The general page of help."""

from litestar import Response, get

from services.api.hand import Hand
from services.web.pages import page
from services.web.visitors import Visitor


@get("/help", sync_to_thread=True)
def show_help(hand: Hand, visitor: Visitor) -> Response[str]:
    """Show what can be done here, and how commands are written elsewhere."""
    answer = hand.language.do("help", reader=visitor.account)
    return page("help.html", visitor, text=answer.page)
