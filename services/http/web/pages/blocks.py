"""Blocking and unblocking players, and declining all their challenges."""

from uuid import uuid4

from litestar import post
from litestar.response import Redirect

from services.app.actor import Actor
from services.app.blocks import add_block, remove_block
from services.app.invitations import decline_all
from services.http.web.pages.match_actions import WEB_FRONT_END
from services.http.web.params import ContextDependency, FormDependency, Userid, VisitorDependency
from services.http.web.render import redirect_to


@post("/players/{userid:str}/block", sync_to_thread=True)
def block_player(
    userid: Userid, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Block a player, and show the list of blocked players."""
    del form
    account = visitor.require_account()
    context.app.pace.check(account)
    declined = add_block(context.app, account, userid)
    return redirect_to(f"/account?saved=blocks&declined={declined}#blocks")


@post("/players/{userid:str}/unblock", sync_to_thread=True)
def unblock_player(
    userid: Userid, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """End a block."""
    del form
    account = visitor.require_account()
    context.app.pace.check(account)
    remove_block(context.app, account, userid)
    return redirect_to("/account#blocks")


@post("/players/{userid:str}/decline", sync_to_thread=True)
def decline_challenges(
    userid: Userid, form: FormDependency, context: ContextDependency, visitor: VisitorDependency
) -> Redirect:
    """Decline all matches by name to which a player challenges the visitor, and show the home page."""
    del form
    actor = Actor(visitor.require_account(), WEB_FRONT_END, uuid4().hex)
    context.app.pace.check(actor.account)
    decline_all(context.app, actor, userid)
    return redirect_to("/")
