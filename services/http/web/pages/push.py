"""Notifications in browsers: the forms on the page of the account, which scripts fill in and send."""

from litestar.response import Redirect

from services.app.push import BrowserKeys, subscribe, unsubscribe
from services.http.web.declared import Pages
from services.http.web.params import Id, Own
from services.http.web.render import redirect_to

pages = Pages()


@pages.post("/account/push")
def allow_notifications(own: Own) -> Redirect:
    """Let this browser show notifications."""
    session = own.visitor.session
    subscribe(
        own.app,
        own.account,
        own.get("endpoint"),
        BrowserKeys(own.get("p256dh"), own.get("auth")),
        label=session.label if session else "",
        login=session.id if session else "",
    )
    return redirect_to("/account?saved=push#push")


@pages.post("/account/push/{id_:str}/end")
def end_notifications(id_: Id, own: Own) -> Redirect:
    """End the notifications of a browser."""
    unsubscribe(own.app, own.account, id_)
    return redirect_to("/account#push")
