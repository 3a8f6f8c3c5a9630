"""Blocking and unblocking players."""

from litestar import post
from litestar.response import Redirect

from services.app.blocks import add_block, remove_block
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
    add_block(context.app, account, userid)
    return redirect_to("/account#blocks")


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
