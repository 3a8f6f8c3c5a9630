"""Proposals in a match, in words: what is proposed, and the button that proposes it."""

from services.http.web.wording import Wording


def offered(kind: str, name: str, words: Wording) -> str:
    """Return what a player proposes, as a sentence."""
    _ = words.gettext
    known = {
        "draw": _("%(name)s proposes a draw.", name=name),
        "undo": _("%(name)s asks to take the last move back.", name=name),
        "pause": _("%(name)s proposes a pause.", name=name),
        "abort": _("%(name)s proposes to break the match off.", name=name),
        "transfer": _("%(name)s proposes to go on at another server.", name=name),
        "count": _("%(name)s proposes to count.", name=name),
        "deal": _("%(name)s wants the server to deal now.", name=name),
    }
    return known.get(kind) or _("%(name)s proposes: %(kind)s.", name=name, kind=kind)


def own_offer(kind: str, words: Wording) -> str:
    """Return what the visitor has proposed, as a sentence."""
    _ = words.gettext
    known = {
        "draw": _("You propose a draw."),
        "undo": _("You ask to take your last move back."),
        "pause": _("You propose a pause."),
        "abort": _("You propose to break the match off."),
        "transfer": _("You propose to go on at another server."),
        "count": _("You propose to count."),
        "deal": _("You want the server to deal now."),
    }
    return known.get(kind) or _("You propose: %(kind)s.", kind=kind)


def offer_button(kind: str, words: Wording) -> str:
    """Return the label of the button that proposes something."""
    _ = words.gettext
    known = {
        "draw": _("Propose a draw"),
        "undo": _("Ask to take back"),
        "pause": _("Propose a pause"),
        "abort": _("Propose to break off"),
        "transfer": _("Propose another server"),
        "count": _("Propose to count"),
        "deal": _("Let the server deal"),
    }
    return known.get(kind) or _("Propose: %(kind)s", kind=kind)
