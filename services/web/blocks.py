"""Blocking players: the button on a player's page, and the one that undoes it."""

from litestar import post
from litestar.response import Redirect

from services.app.blocks import add_block, remove_block
from services.web.pages import go
from services.web.params import TheContext, TheForm, TheVisitor, Userid


@post("/players/{userid:str}/block", sync_to_thread=True)
def block_player(
    userid: Userid, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """Block a player, and show the list of those that are blocked."""
    del form
    account = visitor.need()
    context.app.pace.check(account)
    add_block(context.app, account, userid)
    return go("/account#blocks")


@post("/players/{userid:str}/unblock", sync_to_thread=True)
def unblock_player(
    userid: Userid, form: TheForm, context: TheContext, visitor: TheVisitor
) -> Redirect:
    """End a block."""
    del form
    account = visitor.need()
    context.app.pace.check(account)
    remove_block(context.app, account, userid)
    return go("/account#blocks")
