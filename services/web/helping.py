"""The general page of help."""

from litestar import Response, get

from services.web.pages import page
from services.web.params import TheContext, TheVisitor


@get("/help", sync_to_thread=True)
def show_help(context: TheContext, visitor: TheVisitor) -> Response[str]:
    """Show what can be done here, and how commands are written elsewhere."""
    answer = context.language.do("help", reader=visitor.account)
    return page("help.html", visitor, text=answer.page)
