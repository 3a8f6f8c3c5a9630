"""Time controls in words: the limits of a match, and beside them its reminder and whether it is rated."""

from collections.abc import Iterator

from domain.clocks.time_control import TimeControl
from infra.languages.wording import Wording


def limits(terms: TimeControl | None, words: Wording) -> str:
    """Return the limits of a time control, such as `7 days a move, clock stops at weekends`; empty for none."""
    return "" if terms is None else ", ".join(_limits(terms, words))


def described(terms: TimeControl, words: Wording) -> str:
    """Return the whole of a time control in one line, such as `21 days a move, a reminder after 7`."""
    return ", ".join([*_limits(terms, words), *_others(terms, words)])


def _limits(terms: TimeControl, words: Wording) -> Iterator[str]:
    if terms.turn:
        yield words.ngettext("%(count)s day a move", "%(count)s days a move", terms.turn)
    if terms.bank and terms.increment:
        yield words.ngettext(
            "%(count)s day in total, plus %(more)s per move",
            "%(count)s days in total, plus %(more)s per move",
            terms.bank,
            more=terms.increment,
        )
    elif terms.bank:
        yield words.ngettext("%(count)s day in total", "%(count)s days in total", terms.bank)
    if terms.total:
        yield words.ngettext("%(count)s day in all", "%(count)s days in all", terms.total)
    if not (terms.turn or terms.bank or terms.total):
        yield words.gettext("no time limit")
    if not terms.weekends:
        yield words.gettext("clock stops at weekends")


def _others(terms: TimeControl, words: Wording) -> Iterator[str]:
    if terms.can_remind and terms.turn and not (terms.bank or terms.total):
        # after a single limit, as in "21 days a move", the unit is plain
        yield words.ngettext("a reminder after %(count)s", "a reminder after %(count)s", terms.nag)
    elif terms.can_remind:
        yield words.ngettext(
            "a reminder after %(count)s day", "a reminder after %(count)s days", terms.nag
        )
    if not terms.rated:
        yield words.gettext("unrated")
