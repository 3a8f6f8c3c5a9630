"""Commands that change a match: challenge, move, resign, decline."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile

from msgspec.structs import replace
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from domain.match.events import Called, DealProposed, Event
from domain.match.history import EventEnvelope, decode_event, replay
from domain.match.offers import OFFER_KINDS
from domain.match.start import read_draw_options
from domain.match.state import position_of
from domain.rules import rules_by_id
from infra.languages.wording import N_
from services.app.commands import (
    PLAIN_ACTIONS,
    Accept,
    Action,
    Move,
    Offer,
    Reveal,
    act,
)
from services.app.context import Actor
from services.app.damaged_match import UNREADABLE, damaged_match
from services.app.draws import server_keeps_text
from services.app.error_codes import server_failure
from services.app.matches import load_state, preferred_display
from services.app.move_text import split_ply
from services.app.play import CommandPending, Course, OutcomeNotDurable, give, submit
from services.app.receipts import Answered
from services.app.rematch import rematch as play_again
from services.app.start import start_by_name
from services.language.answer import Answer
from services.language.authentication import names_challenger
from services.language.handlers.boards import draw
from services.language.invocation import Invocation
from services.words.matches import describe_events
from services.words.named_match import NamedMatch, terms_line


def challenge(call: Invocation) -> Answer:
    """Start a match, for one of its players."""
    names = call.line.all("userid")
    flags = [flag for flag in call.line.all("flag") if not names_challenger(flag)]
    counted = call.identity is not None
    start = partial(
        start_by_name,
        call.app,
        call.identity or _first_player(call, names[0]),
        call.rules,
        names,
        options=[flag for flag in flags if not flag.startswith("--")],
        terms=[flag for flag in flags if flag.startswith("--")],
        counted=counted,
    )
    answer = deliver(call, give(call.app, start))
    clock = None if answer.code else load_state(call.app, answer.decided[0].board).clock
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
    return deliver(call, play_again(call.app, call.actor, call.board))


def _act(call: Invocation, action: Action) -> Answer:
    return deliver(call, act(call.app, call.actor, call.board, call.state, action))


def _action_of(call: Invocation) -> Action:
    line = call.line
    if line.has("move"):
        return Move(*split_ply(line.get("move")))
    if line.has("propose") or line.has("undo"):
        return _proposal(call)
    if line.has("accept"):
        return _consent(call)
    if line.has("reveal"):
        return _reveal(call)
    if line.has("resume") and _is_move(call, "resume"):
        return Move("resume")
    return next(action for part, action in PLAIN_ACTIONS.items() if line.has(part))


def _proposal(call: Invocation) -> Action:
    """Return what `propose` or `undo` asks for; `propose` alone is a move where the game has it."""
    kind = "undo" if call.line.has("undo") else call.line.get("value")
    if kind:
        return Offer(kind)
    if _is_move(call, "propose"):
        return Move("propose")
    kinds = (
        (*OFFER_KINDS, *rules_by_id(call.state.rules).offers) if call.state.started else OFFER_KINDS
    )
    said = call.words.gettext(
        "say what you propose: %(kinds)s", kinds=", ".join(f"`propose {one}`" for one in kinds)
    )
    raise Refusal(Code.USAGE, said)


def _is_move(call: Invocation, word: str) -> bool:
    """Return whether a word of the language is a legal move now, as `propose` and `resume` can be in Go."""
    state = call.state
    if not state.started or (state.clock and state.clock.paused):
        return False
    return word in rules_by_id(state.rules).legal_moves(position_of(state))


def _consent(call: Invocation) -> Accept:
    """Read `accept`, and the flags that may follow it in a match that waits for it."""
    options = read_draw_options(call.line.all("flag"))
    if options.gather:
        said = call.words.gettext("--gather can only be used with a challenge")
        raise Refusal(Code.BAD_OPTION, said)
    return Accept(options.word, options.commitment)


def _reveal(call: Invocation) -> Reveal:
    """Read `reveal` and its text; `usage` without one, because here the player has to write it."""
    text = call.line.get("value")
    if not text:
        said = call.words.gettext(
            "write `reveal TEXT`, in hex digits; the server itself reveals a text that it keeps"
        )
        raise Refusal(Code.USAGE, said)
    return Reveal(text)


def _accepted(call: Invocation, decided: Answered) -> Answer:
    """Return the answer to an accepted command, as of then: a repetition gets the same."""
    board, stored = decided.board, call.app.store.events(decided.board)
    try:
        led_to = _events_of_command(stored, decided)
        state = replay(stored[: led_to[-1].seq])
    except UNREADABLE as error:
        refusal = damaged_match(call.app.damage, board, error)
        why = refusal.in_language(call.words)
        said = call.words.gettext("the command was accepted, but %(why)s", why=why)
        return Answer(said, code=refusal.code, decided=(decided,))
    scene, first = NamedMatch.of(call.app, board, state, call.words), led_to[0]
    sentence = describe_events(scene, led_to)
    if _is_sealed(decode_event(stored[0]).body) and server_keeps_text(call.app.words, first):
        sentence += "; " + call.words.gettext(
            "the server keeps your text for the deal, so you'll have to trust its operator"
        )
    display = preferred_display(call.app, first.actor, scene.rules)
    return Answer(sentence, draw(scene, display), decided=(decided,))


def deliver(
    call: Invocation,
    asked: Course[Answered],
    accepted: Callable[[Invocation, Answered], Answer] = _accepted,
    unknown: str = N_(
        "match %(board)s: %(why)s; repeat the command with the key %(key)s to learn its outcome"
    ),
) -> Answer:
    """Carry out a command, and return the answer to its outcome.

    `accepted` makes the answer to an accepted one, and `unknown` is the sentence where the outcome is not known.
    """

    def outcome_unknown(board: int, code: Code, why: str) -> Answer:
        return Answer(
            call.words.gettext(unknown, board=board, why=why, key=repr(call.key)), code=code
        )

    try:
        return accepted(call, submit(call.app, asked, call.seconds))
    except OutcomeNotDurable as pending:
        answer = accepted(call, pending.decided)
        sentence = f"{pending}; {answer.sentence}"
        return replace(answer, sentence=sentence, code=answer.code or Code.PENDING)
    except CommandPending as pending:
        return outcome_unknown(pending.board, Code.PENDING, str(pending))
    except RedisError as error:
        if asked.sent is None:
            raise
        why = f"{server_failure(error)}; the command may have been accepted"
        return outcome_unknown(asked.sent.match, Code.UNAVAILABLE, why)


def _is_sealed(first: Event) -> bool:
    """Return whether a match that begins with this event was proposed with a sealed deal."""
    return isinstance(first, Called) and not (
        isinstance(first, DealProposed) and first.server_deals
    )


def _events_of_command(stored: Sequence[bytes], decided: Answered) -> list[EventEnvelope]:
    """Return the events of the command whose first event the outcome names."""
    events = map(decode_event, stored[decided.seq - 1 :])
    return list(takewhile(lambda event: event.command.hex() == decided.id, events))
