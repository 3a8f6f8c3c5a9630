"""Notifications in browsers: the forms on the page of the account, which scripts fill in and send."""

from litestar import post
from litestar.response import Redirect

from services.app.push import BrowserKeys, subscribe, unsubscribe
from services.http.web.params import ContextDependency, FormDependency, Id, VisitorDependency
from services.http.web.render import redirect_to


@post("/account/push", sync_to_thread=True)
def allow_notifications(
    form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Let this browser show notifications."""
    account = visitor.require_account()
    context.app.pace.check(account)
    session = visitor.session
    subscribe(
        context.app,
        account,
        form.get("endpoint"),
        BrowserKeys(form.get("p256dh"), form.get("auth")),
        label=session.label if session else "",
        login=session.id if session else "",
    )
    return redirect_to("/account?saved=push#push")


@post("/account/push/{id_:str}/end", sync_to_thread=True)
def end_notifications(
    id_: Id, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """End the notifications of a browser."""
    del form
    account = visitor.require_account()
    context.app.pace.check(account)
    unsubscribe(context.app, account, id_)
    return redirect_to("/account#push")
