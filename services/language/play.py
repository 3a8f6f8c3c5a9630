"""Commands that change a match: challenge, move, resign, decline.

Everything a door can tell without deciding is told here and never queued.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import Command, Decline, Move, Offer, Resign, Resume, Sent
from domain.match.decide import OFFER_KINDS, seat_of
from domain.match.events import (
    AccountId,
    CommandId,
    Envelope,
    command_id,
    decode,
)
from domain.match.record import refold
from domain.match.state import MatchState
from domain.rules import AnyRules, pinned
from infra.gateway import OutcomePending
from infra.outcomes import Outcome
from services.app.damaged import UNREADABLE, damaged
from services.app.error_codes import server_failure
from services.language.answer import Answer
from services.language.boards import display_of, draw, present
from services.language.draws import Part, consent, keeps, read_text
from services.language.invocation import Invocation
from services.language.parsing import Line
from services.language.reading import read_board, split_ply
from services.language.starting import check_players, sent_by_name, start_command
from services.language.telling import Scene, tell
from services.language.terms import read_agreed, read_draw
from services.language.typography import read_move


def challenge(call: Invocation) -> Answer:
    """Start a match, for one of its players who is proven to ask for it."""
    names, flags = call.line.all("userid"), call.line.all("flag")
    own = [flag for flag in flags if flag.lower().startswith(_AS)]
    flags = [flag for flag in flags if flag not in own]
    rules = call.rules
    agreed = read_agreed([flag for flag in flags if flag.startswith("--")], len(names))
    of_game = [flag for flag in flags if not flag.startswith("--")]
    rules.read_options(of_game)
    check_players(rules, [name.lower() for name in names])
    seats = [call.app.accounts.id_of(name) for name in names]
    proven = _challenger(call, own)
    challenger = seats[0] if proven is None else proven
    command = command_id(call.door, challenger, call.key)
    start = start_command(rules, of_game, agreed, seats, command)
    call.app.ready()  # before a number is given to what could not be sent
    part = Part(agreed.word, agreed.commitment)
    counted = proven is not None
    return deliver(
        call, sent_by_name(call.app, challenger, command, start, part, counted=counted), 0
    )


_AS: Final = "--as="

_UNPROVEN: Final = (
    "a challenge is for one of its players to make: add --password=PASSWORD, which is the first "
    "player's, or another's with --as=USERID; or send a token, or answer a mail of a match of yours"
)


def _challenger(call: Invocation, own: Sequence[str]) -> AccountId | None:
    """Return who is proven to ask for a match; None at the operator's terminal without a proof.

    A password in the line goes before what the way in knows. `unauthorized` where nothing is proven.
    """
    passwords = call.line.all("password")
    if len(passwords) > 1 or len(own) > len(passwords):
        raise Refusal(
            Code.BAD_OPTION,
            "--password=PASSWORD stands once, and --as=USERID only together with it",
        )
    if passwords:
        name = own[0][len(_AS) :] if own else call.line.get("userid")
        return call.admitted(call.app.accounts.verify(name, passwords[0]))
    if call.origin.proven is not None:
        return call.admitted(call.origin.proven)
    if not call.origin.trusted:
        raise Refusal(Code.UNAUTHORIZED, _UNPROVEN)
    return None


def move(call: Invocation) -> Answer:
    """Play a move, or do what is written in its place: resign, decline, an offer, an answer."""
    return _act(call, _read_action)


def resign(call: Invocation) -> Answer:
    """Return the match up."""
    return _act(call, lambda _: Resign())


def decline(call: Invocation) -> Answer:
    """Refuse to play, before the own first move."""
    return _act(call, lambda _: Decline())


class Asked(msgspec.Struct, frozen=True):
    """A player's command in a match, before it is read."""

    call: Invocation
    board: int
    account: AccountId
    state: MatchState
    id: CommandId


Reader: TypeAlias = Callable[[Asked], Command]
"""Reads what a player asks for in a match."""


def _act(call: Invocation, read: Reader) -> Answer:
    """Send what a player asks for in a running match, once player and text are known good."""
    board = read_board(call.line.get("board"))
    state = present(call, board)
    account = call.account()
    seat_of(account, state)
    id_ = command_id(call.door, account, call.key)
    command = read(Asked(call, board, account, state, id_))
    return deliver(call, Sent(board, id_, account, command), state.ply)


def _read_action(asked: Asked) -> Command:
    line, rules = asked.call.line, pinned(asked.state.rules)
    if line.has("move"):
        return _read_move(rules, line.get("move"))
    if line.has("propose"):
        return _read_offer(rules, line.get("value").lower())
    if line.has("accept"):
        return _read_consent(asked)
    if line.has("reveal"):
        return _read_reveal(line)
    plain: dict[str, Command] = {
        "undo": Offer(kind="undo"),
        "reject": commands.Answer(accept=False),
        "resume": Resume(),
        "resign": Resign(),
        "decline": Decline(),
    }
    return next(command for part, command in plain.items() if line.has(part))


def _read_consent(asked: Asked) -> Command:
    """Read `accept`, and what may follow it in a match that waits for it."""
    ours = read_draw(asked.call.line.all("flag"))
    if ours.gather:
        raise Refusal(Code.BAD_OPTION, "--gather belongs to a challenge")
    part = Part(ours.word, ours.commitment)
    app = asked.call.app
    return consent(app, asked.board, asked.account, asked.state, asked.id, part)


def _read_reveal(line: Line) -> Command:
    """Read `reveal` and the text: without one there is nothing to reveal here."""
    text = line.get("value")
    if not text:
        raise Refusal(
            Code.USAGE,
            "write `reveal TEXT`, in hex digits; a text that the server keeps is revealed by itself",
        )
    return commands.Reveal(text=read_text(text))


def _read_offer(rules: AnyRules, kind: str) -> Offer:
    if kind not in (*OFFER_KINDS, *rules.offers):
        can = ", ".join((*OFFER_KINDS, *rules.offers))
        raise Refusal(Code.UNKNOWN_OFFER, f"{kind[:24]!r} can't be proposed; what can be is: {can}")
    return Offer(kind=kind)


def _read_move(rules: AnyRules, text: str) -> Move:
    """Read a move down to its canonical text, and the ply it is meant for if one is given."""
    text, ply = split_ply(text)
    return Move(text=rules.write(read_move(rules, text)), ply=ply)


def deliver(call: Invocation, sent: Sent, ply: int) -> Answer:
    """Hand a command in, and tell what became of it; `ply` is where this door saw the match."""
    try:
        outcome = call.app.gateway.send(sent, ply, call.seconds)
        if outcome.accepted:
            return _accepted(call, sent, outcome)
    except OutcomePending as pending:
        return _untold(call, sent, Code.PENDING, str(pending))
    except RedisError as error:
        said = f"{server_failure(error)}; the command may have been taken"
        return _untold(call, sent, Code.UNAVAILABLE, said)
    raise Refusal(Code(outcome.code), outcome.sentence)


def _untold(call: Invocation, sent: Sent, code: Code, why: str) -> Answer:
    """Say why the outcome is not known, and how it can be."""
    return Answer(
        f"match {sent.match}: {why}; repeat the command with the key {call.key!r} "
        "to hear its outcome",
        code=code,
    )


def _accepted(call: Invocation, sent: Sent, outcome: Outcome) -> Answer:
    """Tell what an accepted command led to, as it was then: a repetition is answered alike."""
    stored = call.app.store.events(sent.match)
    try:
        led_to = _led_to(stored, sent, outcome)
        state = refold(stored[: led_to[-1].seq])
    except UNREADABLE as error:
        refusal = damaged(call.app.damage, sent.match, error)
        return Answer(f"the command was accepted, but {refusal.sentence}", code=refusal.code)
    scene = Scene.of(call.app, sent.match, state)
    sentence = tell(scene, [envelope.body for envelope in led_to])
    if keeps(call.app.words, sent):
        sentence += (
            "; the server keeps your text for the draw: you trust its operator for your part"
        )
    page = draw(scene, display_of(call, sent.actor))
    if call.app.durable:
        return Answer(sentence, page)
    return Answer(
        f"with durability none this is never more than pending; {sentence}", page, Code.PENDING
    )


def _led_to(stored: Sequence[bytes], sent: Sent, outcome: Outcome) -> list[Envelope]:
    """Return the events of the command whose first event the outcome names."""
    found = []
    for data in stored[outcome.seq - 1 :]:
        envelope = decode(data)
        if envelope.command != sent.id:
            break
        found.append(envelope)
    return found
