"""The page behind the header List-Unsubscribe: it ends all mail to an account, without a login.

Only a POST ends mail, because mail servers and scanners open the links that they see. The POST needs no
cookie and no proof of a page, because mail programs send it (RFC 8058).
"""

from typing import Annotated

from litestar import HttpMethod, Response, route
from litestar.params import PathParameter

from infra.log.key_files import keys_folder
from infra.mail.unsubscribe_links import UnsubscribeLinks
from services.app import accounts
from services.http.web.params import ContextDependency, VisitorDependency
from services.http.web.render import render
from services.http.web.session import AnyRequest

LinkText = Annotated[str, PathParameter(max_length=100)]


@route(
    "/unsubscribe/{link:str}",
    http_method=[HttpMethod.GET, HttpMethod.POST],
    status_code=200,
    sync_to_thread=True,
)
def unsubscribe(
    link: LinkText, request: AnyRequest, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show what a link turns off, and the button that does; a POST ends all mail to the link's account."""
    done = request.method == HttpMethod.POST
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
