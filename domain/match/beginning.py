"""The start of a match: at once, or when all players have accepted it."""

from typing import Final

import msgspec
from msgspec import UNSET

from domain.errors import Code, Refusal
from domain.fairness import TEXT_LIMIT, Commitment
from domain.match.commands import Answer, Away, Decline, Return, Reveal, Sent, Start
from domain.match.committing import advance, begin, called, reveal, withhold
from domain.match.decision import Decided, Given
from domain.match.events import AccountId, Called, Challenged, Committed, Gathered
from domain.match.keeping import absence, check_gathering_time
from domain.match.playing import decline
from domain.match.state import MatchState, evolve
from domain.rules import Seat, pinned

_DIGEST: Final = 32
"""Bytes of a SHA-256."""


def needs_seed(sent: Sent, state: MatchState) -> bool:
    """Return whether this decision may use the shard's next seed; `decide` needs it in that case."""
    match sent.command:
        case Start(gather=False) as start if not state.started:
            return draws(start.rules, start.options, len(start.seats))
        case Start(commitments=tuple() as commitments) if not state.started:
            return all(one.digest for one in commitments)
        case Answer(accept=True) if state.gathering:
            return not state.sealed
        case _:
            return False


def sealed_seed(sent: Sent, state: MatchState) -> tuple[int, int] | None:
    """Return chain and number of the sealed seed that this decision may need, if any."""
    if isinstance(sent.command, Reveal) and state.gathering and state.gather is not None:
        return state.gather.seal
    return None


def concerned(sent: Sent, state: MatchState) -> tuple[AccountId, ...]:
    """Return the accounts whose vacations and stored texts this decision may need."""
    match sent.command:
        case Start() as start if not state.started:
            return start.seats
        case Answer(accept=True) | Reveal() if state.gathering:
            return state.seats
        case _:
            return ()


def draws(name: str, flags: tuple[str, ...], players: int) -> bool:
    """Return whether a start needs chance; False if the start is invalid."""
    try:
        rules = pinned(name)
        return rules.needs_draw(rules.read_options(flags), players)
    except Refusal:
        return False


def start(command: Start, board: int, state: MatchState, context: Given) -> Decided:
    """Start a match, or propose one that waits for its players' entropy."""
    if state.started:
        raise Refusal(Code.ALREADY_STARTED, "the match has started already")
    rules = pinned(command.rules)
    if len(command.seats) not in rules.players:
        counts = " or ".join(str(count) for count in rules.players)
        raise Refusal(Code.BAD_PLAYERS, f"{rules.title} is played by {counts}")
    if len(set(command.seats)) != len(command.seats):
        raise Refusal(Code.BAD_PLAYERS, "a player can't take two seats of one match")
    options = rules.read_options(command.options)
    challenged = Challenged(
        rules=command.rules,
        options=rules.write_options(options),
        seats=command.seats,
        text=command.text,
        terms=command.terms,
    )
    commitments = _commitments(command)
    if not command.gather:
        texts = (command.text, *[b""] * (len(command.seats) - 1))
        return begin(challenged, texts, board, context)
    if not rules.needs_draw(options, len(command.seats)) or len(command.seats) == 1:
        raise Refusal(Code.BAD_OPTION, "this match has no draw between players; leave out --gather")
    if not commitments:
        return Decided((challenged,))
    call = Called(**msgspec.structs.asdict(challenged), commitments=commitments)
    return advance(evolve(state, call, state.at), board, context, call)


def _commitments(command: Start) -> tuple[Commitment, ...]:
    """Return the commitments that came with the start; raises `Refusal` with `bad-option`."""
    if command.commitments is UNSET:
        return ()
    fits = len(command.commitments) == len(command.seats)
    if not command.gather or command.text or not fits:
        raise Refusal(Code.BAD_OPTION, "the commitments don't fit the match")
    for one in command.commitments:
        if one != Commitment():
            _check(one)
    return command.commitments


def _check(commitment: Commitment) -> None:
    if len(commitment.digest) != _DIGEST or len(commitment.word) not in (0, _DIGEST):
        raise Refusal(Code.BAD_OPTION, "a commitment is a SHA-256: 32 bytes, or 64 hex digits")


def gather(sent: Sent, seat: Seat, state: MatchState, context: Given) -> Decided:
    """Decide a player's command in a match that waits for its players' entropy."""
    command, now = sent.command, max(context.received, state.at)
    check_gathering_time(state, now)
    match command:
        case Away() | Return():
            return Decided((absence(command, seat, state, now),))
        case Decline() | Answer(accept=False):
            return withhold((seat,)) if state.sealed else decline(seat, state)
        case Reveal():
            return reveal(_checked(command, seat, state), seat, state, sent.match, context)
        case Answer() if seat in state.waits and not state.sealed:
            return _accept(command, seat, state, sent.match, context)
        case Answer():
            raise Refusal(Code.OFFER_STANDS, "you have accepted this match already")
        case _:
            raise Refusal(Code.NOT_STARTED, _waiting(state))


def _waiting(state: MatchState) -> str:
    if state.sealed:
        return "the match waits until all players have revealed what they committed to"
    return "the match waits until all players have accepted it; say accept or decline"


def _accept(command: Answer, seat: Seat, state: MatchState, board: int, context: Given) -> Decided:
    """Accept a match: with a commitment, or with the text itself if the match takes no commitments."""
    if state.gather is not None:
        if command.commitment is UNSET:
            raise Refusal(Code.BAD_OPTION, "the match needs your commitment; accept with one")
        _check(command.commitment)
        committed = Committed(seat=seat, commitment=command.commitment)
        return advance(evolve(state, committed, state.at), board, context, committed)
    if command.commitment is not UNSET:
        raise Refusal(Code.BAD_OPTION, "the match takes no commitments; accept with a text")
    gathered = Gathered(seat=seat, text=command.text)
    after = evolve(state, gathered, state.at)
    if after.waits:
        return Decided((gathered,))
    texts = tuple(text or b"" for text in after.texts)
    return begin(called(after), texts, board, context, gathered)


def _checked(command: Reveal, seat: Seat, state: MatchState) -> bytes:
    """Return the text that a player reveals; raises `Refusal` if it is not due or not the right one."""
    if state.gather is None:
        raise Refusal(
            Code.TOO_LATE, "there is nothing to reveal: the match takes texts without commitments"
        )
    if not state.sealed:
        raise Refusal(
            Code.TOO_EARLY, "not all players have committed yet; reveal your text when they have"
        )
    if state.texts[seat] is not None:
        raise Refusal(Code.TOO_LATE, "your text is revealed already")
    if len(command.text) > TEXT_LIMIT or not state.gather.commitments[seat].fits(command.text):
        raise Refusal(Code.WRONG_TEXT, "this is not the text that you committed to")
    return command.text
