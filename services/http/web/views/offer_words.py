"""Proposals in a match, in words: what is proposed, and the button that proposes it."""

from infra.languages.wording import Wording


def offered(kind: str, name: str, words: Wording) -> str:
    """Return what a player proposes, as a sentence."""
    _ = words.gettext
    known = {
        "draw": _("%(name)s offers a draw.", name=name),
        "undo": _("%(name)s asks for a takeback.", name=name),
        "pause": _("%(name)s suggests a pause.", name=name),
        "abort": _("%(name)s offers to call the match off.", name=name),
        "transfer": _("%(name)s wants to move the match to another server.", name=name),
        "count": _("%(name)s proposes to count.", name=name),
        "deal": _("%(name)s wants the server to deal now.", name=name),
    }
    return known.get(kind) or _("%(name)s proposes: %(kind)s.", name=name, kind=kind)


def own_offer(kind: str, words: Wording) -> str:
    """Return what the visitor has proposed, as a sentence."""
    _ = words.gettext
    known = {
        "draw": _("You offered a draw."),
        "undo": _("You asked for a takeback."),
        "pause": _("You suggested a pause."),
        "abort": _("You offered to call the match off."),
        "transfer": _("You suggested moving the match to another server."),
        "count": _("You propose to count."),
        "deal": _("You want the server to deal now."),
    }
    return known.get(kind) or _("You propose: %(kind)s.", kind=kind)


def offer_button(kind: str, words: Wording) -> str:
    """Return the label of the button that proposes something."""
    _ = words.gettext
    known = {
        "draw": _("Offer a draw"),
        "undo": _("Ask for a takeback"),
        "pause": _("Suggest a pause"),
        "abort": _("Offer to call it off"),
        "transfer": _("Suggest the move"),
        "count": _("Propose to count"),
        "deal": _("Let the server deal"),
    }
    return known.get(kind) or _("Propose: %(kind)s", kind=kind)
