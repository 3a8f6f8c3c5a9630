"""Commands that change a match: challenge, move, resign, decline."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from domain.match.commands import CommandEnvelope
from domain.match.events import Called, DealProposed, Event, EventEnvelope, decode_event
from domain.match.history import replay
from domain.match.start_options import read_draw_options
from infra.store.outcomes import CommandOutcome
from services.app.actor import Actor
from services.app.commands import (
    PLAIN_ACTIONS,
    AcceptAction,
    Action,
    MatchCommand,
    MoveAction,
    OfferAction,
    OutcomeNotDurable,
    OutcomePending,
    RevealAction,
    command_of,
    finish,
)
from services.app.context import App
from services.app.damaged_match import UNREADABLE, damaged_match
from services.app.draws import DrawPart, server_keeps_text
from services.app.error_codes import server_failure
from services.app.matches import load_state, preferred_display
from services.app.move_text import split_ply
from services.app.receipts import DecidedCommand
from services.app.rematch import rematch as rematch_command
from services.app.start import start_by_name
from services.language.answer import Answer
from services.language.authentication import names_challenger
from services.language.handlers.boards import draw
from services.language.invocation import Invocation
from services.words.clocks import terms_line
from services.words.matches import describe_events
from services.words.named_match import NamedMatch


def challenge(call: Invocation) -> Answer:
    """Start a match, for one of its players."""
    names = call.line.all("userid")
    flags = [flag for flag in call.line.all("flag") if not names_challenger(flag)]
    counted = call.identity is not None
    command = start_by_name(
        call.app,
        call.identity or _first_player(call, names[0]),
        call.rules,
        names,
        options=[flag for flag in flags if not flag.startswith("--")],
        terms=[flag for flag in flags if flag.startswith("--")],
        counted=counted,
    )
    answer = deliver(call, command)
    clock = None if answer.code else load_state(call.app, command.sent.match).clock
    if clock is None:
        return answer
    page = "\n\n".join(filter(None, (terms_line(clock.terms, call.words), answer.page)))
    return replace(answer, page=page)


def _first_player(call: Invocation, name: str) -> Actor:
    """Return the player in whose name the operator starts a match."""
    return Actor(call.app.accounts.id_of(name), call.via, call.key, name)


def move(call: Invocation) -> Answer:
    """Play a move, or what is written in its place: resign, decline, an offer, an answer."""
    return _act(call, _action_of(call))


def resign(call: Invocation) -> Answer:
    """Resign the match."""
    return _act(call, PLAIN_ACTIONS["resign"])


def decline(call: Invocation) -> Answer:
    """Refuse to play, before the player's first move."""
    return _act(call, PLAIN_ACTIONS["decline"])


def rematch(call: Invocation) -> Answer:
    """Start the rematch of a match, or return the one that another player has started."""
    try:
        return deliver(call, rematch_command(call.app, call.actor, call.board))
    except Refusal as reason:
        if reason.code != Code.ID_REUSED:
            raise
    # another player has asked at the same moment, and was first
    return deliver(call, rematch_command(call.app, call.actor, call.board))


def _act(call: Invocation, action: Action) -> Answer:
    return deliver(call, command_of(call.app, call.actor, call.board, call.state, action))


def _action_of(call: Invocation) -> Action:
    line = call.line
    if line.has("move"):
        return MoveAction(*split_ply(line.get("move")))
    if line.has("propose"):
        return OfferAction(line.get("value"))
    if line.has("undo"):
        return OfferAction("undo")
    if line.has("accept"):
        return _consent(call)
    if line.has("reveal"):
        return _reveal(call)
    return next(action for part, action in PLAIN_ACTIONS.items() if line.has(part))


def _consent(call: Invocation) -> AcceptAction:
    """Read `accept`, and the flags that may follow it in a match that waits for it."""
    options = read_draw_options(call.line.all("flag"))
    if options.gather:
        said = call.words.gettext("--gather belongs to a challenge")
        raise Refusal(Code.BAD_OPTION, said)
    return AcceptAction(DrawPart(options.word, options.commitment))


def _reveal(call: Invocation) -> RevealAction:
    """Read `reveal` and its text; `usage` without one, because here the player has to write it."""
    text = call.line.get("value")
    if not text:
        said = call.words.gettext(
            "write `reveal TEXT`, in hex digits; the server itself reveals a text that it keeps"
        )
        raise Refusal(Code.USAGE, said)
    return RevealAction(text)


Finish = Callable[[App, CommandEnvelope, CommandOutcome], CommandOutcome]
"""Returns the outcome of an accepted command, and refuses a refused one."""


def _finish(app: App, _: CommandEnvelope, outcome: CommandOutcome) -> CommandOutcome:
    return finish(app, outcome)


def deliver(call: Invocation, command: MatchCommand, finished: Finish = _finish) -> Answer:
    """Submit a command, and return the answer to its outcome."""
    try:
        return _outcome(call, command, finished)
    except OutcomePending as pending:
        return _outcome_unknown(call, command, Code.PENDING, str(pending))
    except RedisError as error:
        why = f"{server_failure(error)}; the command may have been accepted"
        return _outcome_unknown(call, command, Code.UNAVAILABLE, why)


def _outcome(call: Invocation, command: MatchCommand, finished: Finish) -> Answer:
    outcome = call.app.gateway.send(command.sent, command.ply, call.seconds)
    call.decided.append(DecidedCommand(command.sent.match, command.sent.id, outcome))
    try:
        return _accepted(call, command.sent, finished(call.app, command.sent, outcome))
    except OutcomeNotDurable as pending:
        answer = _accepted(call, command.sent, outcome)
        sentence = f"{pending}; {answer.sentence}"
        return Answer(sentence, answer.page, answer.code or Code.PENDING)


def _outcome_unknown(call: Invocation, command: MatchCommand, code: Code, why: str) -> Answer:
    """Return an answer that says why the outcome is not known, and how to learn it."""
    said = call.words.gettext(
        "match %(board)s: %(why)s; repeat the command with the key %(key)s to learn its outcome",
        board=command.sent.match,
        why=why,
        key=repr(call.key),
    )
    return Answer(said, code=code)


def _accepted(call: Invocation, sent: CommandEnvelope, outcome: CommandOutcome) -> Answer:
    """Return the answer to an accepted command, as of then: a repetition gets the same."""
    stored = call.app.store.events(sent.match)
    try:
        led_to = _events_of_command(stored, sent, outcome)
        state = replay(stored[: led_to[-1].seq])
    except UNREADABLE as error:
        refusal = damaged_match(call.app.damage, sent.match, error)
        why = refusal.in_language(call.language)
        said = call.words.gettext("the command was accepted, but %(why)s", why=why)
        return Answer(said, code=refusal.code)
    scene = NamedMatch.of(call.app, sent.match, state, call.language)
    sentence = describe_events(scene, led_to)
    if _is_sealed(decode_event(stored[0]).body) and server_keeps_text(call.app.words, sent):
        sentence += "; " + call.words.gettext(
            "the server keeps your text for the draw: you trust its operator for your part"
        )
    return Answer(sentence, draw(scene, preferred_display(call.app, sent.actor, scene.rules)))


def _is_sealed(first: Event) -> bool:
    """Return whether a match that begins with this event was proposed with a sealed deal."""
    return isinstance(first, Called) and not (
        isinstance(first, DealProposed) and first.server_deals
    )


def _events_of_command(
    stored: Sequence[bytes], sent: CommandEnvelope, outcome: CommandOutcome
) -> list[EventEnvelope]:
    """Return the events of the command whose first event the outcome names."""
    found = []
    for data in stored[outcome.seq - 1 :]:
        envelope = decode_event(data)
        if envelope.command != sent.id:
            break
        found.append(envelope)
    return found
