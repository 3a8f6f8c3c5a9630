"""The general page of help."""

from litestar import Response, get

from services.web.pages import page
from services.web.params import TheHand, TheVisitor


@get("/help", sync_to_thread=True)
def show_help(hand: TheHand, visitor: TheVisitor) -> Response[str]:
    """Show what can be done here, and how commands are written elsewhere."""
    answer = hand.language.do("help", reader=visitor.account)
    return page("help.html", visitor, text=answer.page)
