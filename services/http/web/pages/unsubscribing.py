"""The page behind the header List-Unsubscribe: it ends all mail to an account, without a login.

Only a POST ends mail, because mail servers and scanners open the links that they see. The POST needs no
cookie and no proof of a page, because mail programs send it (RFC 8058).
"""

from typing import Annotated

from litestar import Response
from litestar.params import PathParameter

from infra.log.key_files import keys_folder
from infra.mail.unsubscribe_links import UnsubscribeLinks
from services.app import accounts
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render
from services.http.web.session import Visitor

pages = Pages()

LinkText = Annotated[str, PathParameter(max_length=100)]


@pages.get("/unsubscribe/{link:str}")
def show_unsubscribe(
    link: LinkText, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show what a link turns off, and the button that does."""
    return _page(context, visitor, link, done=False)


@pages.post("/unsubscribe/{link:str}", proven_by_address=True)
def unsubscribe(
    link: LinkText, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """End all mail to the account of a link."""
    return _page(context, visitor, link, done=True)


def _page(context: ApiContext, visitor: Visitor, link: str, *, done: bool) -> Response[str]:
    app = context.app
    account = UnsubscribeLinks(keys_folder(app.settings), app.settings.site).read(link)
    profile = account and app.accounts.record_of(account)
    if account and profile and done:
        accounts.sign_off(app, account)
    return render(
        "unsubscribe.html",
        visitor,
        status=200 if profile else 404,
        link=link,
        userid=profile.name if profile else "",
        done=done,
    )
