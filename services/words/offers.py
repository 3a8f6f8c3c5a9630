"""Offers in words: what a player proposes, how another answered, and the button that proposes it."""

from infra.languages.wording import Wording


def offered(kind: str, player: str, words: Wording) -> str:
    """Return what a player proposes, without a full stop."""
    _ = words.gettext
    known = {
        "draw": _("%(name)s offers a draw", name=player),
        "undo": _("%(name)s asks for a takeback", name=player),
        "pause": _("%(name)s suggests a pause", name=player),
        "abort": _("%(name)s offers to call the match off", name=player),
        "transfer": _("%(name)s wants to move the match to another server", name=player),
        "count": _("%(name)s proposes to count", name=player),
        "deal": _("%(name)s wants the server to deal now", name=player),
    }
    return known.get(kind) or _("%(name)s proposes: %(kind)s", name=player, kind=kind)


def own_offer(kind: str, words: Wording) -> str:
    """Return what the reader has proposed, as a sentence."""
    _ = words.gettext
    known = {
        "draw": _("You offered a draw."),
        "undo": _("You asked for a takeback."),
        "pause": _("You suggested a pause."),
        "abort": _("You offered to call the match off."),
        "transfer": _("You suggested moving the match to another server."),
        "count": _("You proposed to count."),
        "deal": _("You want the server to deal now."),
    }
    return known.get(kind) or _("You proposed: %(kind)s.", kind=kind)


def answered(kind: str, player: str, words: Wording, *, accepted: bool) -> str:
    """Return how a player answered an offer, without a full stop."""
    return (_accepted if accepted else _declined)(kind, player, words)


def _accepted(kind: str, player: str, words: Wording) -> str:
    _ = words.gettext
    known = {
        "draw": _("%(name)s accepted the draw", name=player),
        "undo": _("%(name)s accepted the takeback", name=player),
        "pause": _("%(name)s accepted the pause", name=player),
        "abort": _("%(name)s agreed to call the match off", name=player),
        "transfer": _("%(name)s agreed to move the match to another server", name=player),
        "count": _("%(name)s agreed to count", name=player),
        "deal": _("%(name)s agreed to let the server deal", name=player),
    }
    return known.get(kind) or _("%(name)s accepted the proposal", name=player)


def _declined(kind: str, player: str, words: Wording) -> str:
    _ = words.gettext
    known = {
        "draw": _("%(name)s declined the draw", name=player),
        "undo": _("%(name)s declined the takeback", name=player),
        "pause": _("%(name)s declined the pause", name=player),
        "abort": _("%(name)s does not want to call the match off", name=player),
        "transfer": _("%(name)s does not want to move the match to another server", name=player),
        "count": _("%(name)s does not want to count", name=player),
        "deal": _("%(name)s does not want the server to deal", name=player),
    }
    return known.get(kind) or _("%(name)s declined the proposal", name=player)


def offer_button(kind: str, words: Wording) -> str:
    """Return the label of the button that proposes something."""
    _ = words.gettext
    known = {
        "draw": _("Offer a draw"),
        "undo": _("Ask for a takeback"),
        "pause": _("Suggest a pause"),
        "abort": _("Offer to call it off"),
        "transfer": _("Suggest moving it"),
        "count": _("Propose to count"),
        "deal": _("Let the server deal"),
    }
    return known.get(kind) or _("Propose: %(kind)s", kind=kind)
