"""Blocking and unblocking players, and declining all their challenges."""

from litestar.response import Redirect

from services.app.blocks import add_block, remove_block
from services.app.invitations import decline_all
from services.http.web.declared import Pages
from services.http.web.params import Own, Userid
from services.http.web.render import redirect_to

pages = Pages()


@pages.post("/players/{userid:str}/block")
def block_player(userid: Userid, own: Own) -> Redirect:
    """Block a player, and show the list of blocked players."""
    declined = add_block(own.app, own.account, userid)
    return redirect_to(f"/account?saved=blocks&declined={declined}#blocks")


@pages.post("/players/{userid:str}/unblock")
def unblock_player(userid: Userid, own: Own) -> Redirect:
    """End a block."""
    remove_block(own.app, own.account, userid)
    return redirect_to("/account#blocks")


@pages.post("/players/{userid:str}/decline")
def decline_challenges(userid: Userid, own: Own) -> Redirect:
    """Decline all matches by name to which a player challenges the visitor, and show the home page."""
    decline_all(own.app, own.actor(), userid)
    return redirect_to("/")
