"""The parts of e-mails about disputes: statements, and how to answer."""

from collections.abc import Sequence

from domain.match.events import Appealed, Claimed, Ruled
from domain.match.history import EventEnvelope
from domain.match.state import MatchState
from domain.sentences import Sentence, Translation
from services.app.context import App
from services.app.matches import statements_of
from services.app.names import shown_names
from services.mail.sentences import SAY


def statement_lines(
    app: App, board: int, events: Sequence[EventEnvelope], language: Translation
) -> str:
    """Return the texts of claims, rulings and appeals, each after its author; empty for other events."""
    about = [event for event in events if isinstance(event.body, Claimed | Ruled | Appealed)]
    if not about:
        return ""
    texts = {one.digest: one.text for one in statements_of(app, board)}
    names = shown_names(app.accounts.name_of([event.actor for event in about]), language)
    lines = []
    for event, name in zip(about, names, strict=True):
        assert isinstance(event.body, Claimed | Ruled | Appealed)
        text = texts.get(event.body.text, SAY("erased").in_language(language))
        lines.append(_stated(_author_line(event.body, name), text, language))
    return "\n".join(lines)


def reasons_text(name: str, texts: Sequence[str], language: Translation) -> str:
    """Return the reasons for which a director took a player out, after the director's name."""
    text = "\n".join(texts) or SAY("erased").in_language(language)
    return _stated(SAY("reasons-of", name=name), text, language)


def _stated(head: Sentence, text: str, language: Translation) -> str:
    # indented after every kind of line end, so that no line looks like the server's own
    shown = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{head.in_language(language)}\n{shown}"


def _author_line(statement: Claimed | Ruled | Appealed, name: str) -> Sentence:
    match statement:
        case Claimed():
            return SAY("claim-of", name=name)
        case Ruled():
            return SAY("reasons-of", name=name)
        case Appealed():
            return SAY("appeal-of", name=name)


def how_to_appeal(state: MatchState, events: Sequence[EventEnvelope], language: Translation) -> str:
    """Return how a player objects to a ruling among these events; empty without one, or if it is final."""
    ruled = [event for event in events if isinstance(event.body, Ruled)]
    if not ruled:
        return ""
    numbers = {getattr(event.body, "claim", None) or event.seq for event in ruled}
    if all(case.final for case in state.cases if case.claim in numbers):
        return ""
    return SAY("to-appeal").in_language(language)


def how_to_rule(board: int, name: str, language: Translation) -> str:
    """Return how an arbiter rules on a case."""
    return (
        f"{SAY('to-see-case').in_language(language)}\n  case {board} {name} password\n"
        f"{SAY('to-rule').in_language(language)}\n"
        f"  rule {board} {name} password dismissed REASONS\n"
        f"  rule {board} {name} password back #PLY REASONS\n"
        f"  rule {board} {name} password result SIDE REASONS\n"
        f"  rule {board} {name} password draw REASONS\n"
        f"  rule {board} {name} password annul REASONS\n"
        f"  rule {board} {name} password time SIDE=DAYS REASONS"
    )
