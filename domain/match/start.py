"""The command that starts a match, the same from every front end, with the options that all games have.

The start of a match: at once, or when all players have accepted it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from domain.clocks.time_control import TimeControl, read_time_control
from domain.errors import Code, Refusal
from domain.fairness import ENTROPY_TEXT_LIMIT, Commitment, entropy_text
from domain.match.clocks import check_commit_time, decide_vacation
from domain.match.commands import (
    AnswerOffer,
    CommandEnvelope,
    DeclineMatch,
    EndVacation,
    FlagPlayer,
    GiveRuling,
    ImportMatch,
    MakeOffer,
    ResignMatch,
    RevealText,
    StartMatch,
    StartVacation,
    SubstitutePlayer,
)
from domain.match.deals import (
    advance_commitments,
    draw_and_start,
    draw_sealed,
    end_without_texts,
    proposal_of,
    reveal_text,
)
from domain.match.decision import Decision, DecisionContext
from domain.match.events import (
    Called,
    Challenged,
    Committed,
    DealProposed,
    Gathered,
    MatchPaired,
    MatchProposed,
    MatchStarted,
    OfferAnswered,
    OpeningGiven,
)
from domain.match.evolve import evolve, replace_at
from domain.match.history import decode_event
from domain.match.imports import check_seats, start_imported
from domain.match.moves import decline_match
from domain.match.offers import offer_deal
from domain.match.sentences import SAY
from domain.match.state import MatchState, robot_level
from domain.records import SERVER_ACCOUNT, AccountId, CommandId
from domain.rules import (
    AnyRules,
    Opening,
    Seat,
    pack_position,
    read_opening,
    recorded_opening,
    rules_by_id,
    rules_id,
)

OPENING_FLAG: Final = "--opening="
"""Before the first moves of a match, with blanks between them."""

_OF_DRAWS = ("--entropy", "--gather", "--commitment")


class StartOptions(msgspec.Struct, frozen=True):
    """The options that begin with two hyphens."""

    word: str = ""
    """The challenger's own entropy."""
    gather: bool = False
    """Whether the match waits for the others' entropy."""
    terms: TimeControl | None = None
    """None for a match without clocks, which is one of a single player."""
    commitment: str = ""
    """SHA-256 of the text that the challenger keeps, in hex."""
    opening: str = ""
    """The moves with which the match begins, as the challenger writes them; empty for none."""

    @property
    def draws(self) -> bool:
        """Whether an option about a draw is set."""
        return bool(self.word) or self.gather or bool(self.commitment)


def read_start_options(flags: Sequence[str], players: int) -> StartOptions:
    """Return the options that the words stand for.

    Refused as `bad-option` or `unknown-option` if one can't be read, comes twice, or lacks another.
    """
    openings = [flag for flag in flags if flag.lower().startswith(OPENING_FLAG)]
    about_draws = [flag for flag in flags if flag.partition("=")[0] in _OF_DRAWS]
    about_time = [flag for flag in flags if flag not in (*about_draws, *openings)]
    drawn = read_draw_options(about_draws)
    if openings:
        opening = openings[0][len(OPENING_FLAG) :]
        if len(openings) > 1 or not opening.strip():
            raise Refusal(Code.BAD_OPTION, SAY("opening-once", option=f"{OPENING_FLAG}MOVES"))
        drawn = msgspec.structs.replace(drawn, opening=opening)
    if drawn.commitment and not drawn.gather:
        raise Refusal(Code.BAD_OPTION, SAY("commitment-place"))
    if players == 1:
        if about_time:
            raise Refusal(
                Code.BAD_OPTION,
                SAY("time-alone", option=about_time[0][:24]),
            )
        return drawn
    return msgspec.structs.replace(drawn, terms=read_time_control(about_time))


def read_draw_options(flags: Sequence[str]) -> StartOptions:
    """Return the options of `--entropy=WORD`, `--gather` and `--commitment=HEX`, each at most once."""
    word, gather, commitment = "", False, ""
    for flag in flags:
        name, mark, value = flag.partition("=")
        if name == "--entropy" and value and not word:
            word = value
        elif name == "--gather" and not mark and not gather:
            gather = True
        elif name == "--commitment" and value and not commitment:
            commitment = value
        else:
            raise Refusal(
                Code.BAD_OPTION,
                SAY("start-option", option=flag[:24]),
            )
    return StartOptions(word, gather, commitment=commitment)


def start_command(
    rules: AnyRules,
    flags: Sequence[str],
    chosen: StartOptions,
    seats: Sequence[AccountId],
    command: CommandId,
) -> StartMatch:
    """Return the command that starts a match; `flags` are the game's options.

    Where chance sets up a match of several, all of them add to the draw, also if the server deals at once.
    Refused as the game refuses its options, as `bad-players`, and as `bad-option` for entropy if
    chance decides nothing.
    """
    options = rules.read_options(flags)
    check_players(rules, seats)
    draws = rules.needs_draw(options, len(seats))
    if chosen.draws and not draws:
        raise Refusal(Code.BAD_OPTION, SAY("no-chance-here"))
    opening: str | UnsetType = UNSET
    if chosen.opening:
        opening = read_opening(rules, options, len(seats), chosen.opening).moves
    gather = chosen.gather or (draws and len(seats) > 1)
    return StartMatch(
        rules=rules_id(rules),
        options=rules.write_options(options),
        seats=tuple(seats),
        text=entropy_text(command, chosen.word) if draws and not gather else b"",
        gather=gather,
        terms=chosen.terms,
        opening=opening,
    )


def check_players(rules: AnyRules, seats: Sequence[object]) -> None:
    """Refuse as `bad-players` too few players, too many, and one player twice."""
    if len(seats) not in rules.players:
        counts = " ".join(str(count) for count in rules.players)
        raise Refusal(
            Code.BAD_PLAYERS,
            SAY("player-count", game=rules.title, counts=counts, count=len(seats)),
        )
    if len(set(seats)) != len(seats):
        raise Refusal(Code.BAD_PLAYERS, SAY("two-seats"))


def with_commitments(
    sent: CommandEnvelope, commitments: Mapping[AccountId, Commitment], history: Sequence[bytes]
) -> CommandEnvelope:
    """Return a start that gathers, with what its players have committed to.

    If the match has begun by this very command, the command is the same as then, whatever the
    `commitments` are now. `history` has the events of the match.
    """
    start = sent.command
    assert isinstance(start, StartMatch)
    by_seat = tuple(commitments.get(account, Commitment()) for account in start.seats)
    for data in history[:1]:
        first = decode_event(data)
        if first.command == sent.id and isinstance(first.body, Called):
            by_seat = first.body.commitments
    start = msgspec.structs.replace(start, text=b"", commitments=by_seat)
    return msgspec.structs.replace(sent, command=start)


_DIGEST_BYTES: Final = 32
"""Bytes of a SHA-256."""


def needs_seed(sent: CommandEnvelope, state: MatchState) -> bool:
    """Return whether this decision may use the shard's next seed; `decide` needs it in that case."""
    match sent.command:
        case StartMatch(gather=False) as start if not state.started:
            return needs_chance(start.rules, start.options, len(start.seats))
        case StartMatch(commitments=tuple() as commitments) if not state.started:
            return all(one.digest for one in commitments)
        case AnswerOffer(accept=True) if state.awaits_entropy:
            return not state.sealed and state.imported is None
        case _:
            return False


def sealed_seed(sent: CommandEnvelope, state: MatchState) -> tuple[int, int] | None:
    """Return chain and number of the sealed seed that this decision may need, if any."""
    if state.gather is None or not state.awaits_entropy:
        return None
    agrees = isinstance(sent.command, MakeOffer | AnswerOffer) and state.offer is not None
    return state.gather.seal if agrees or isinstance(sent.command, RevealText) else None


def accounts_needed(sent: CommandEnvelope, state: MatchState) -> tuple[AccountId, ...]:
    """Return the accounts whose vacations and stored texts this decision may need."""
    match sent.command:
        case StartMatch() | ImportMatch() as start if not state.started:
            return start.seats
        case AnswerOffer(accept=True) | RevealText() if state.awaits_entropy:
            return state.seats
        case MakeOffer() | DeclineMatch() | AnswerOffer() | FlagPlayer() if state.sealed:
            return state.seats
        case SubstitutePlayer() as substitute if 0 <= substitute.seat < len(state.seats):
            return replace_at(state.seats, substitute.seat, substitute.account)
        case GiveRuling(back_to=int()) if state.over:
            # vacations that began after the end are not on its clock
            return state.seats
        case _:
            return ()


def needs_chance(name: str, flags: tuple[str, ...], players: int) -> bool:
    """Return whether a start needs chance; False if the start is invalid."""
    try:
        rules = rules_by_id(name)
        return rules.needs_draw(rules.read_options(flags), players)
    except Refusal:
        return False


def start_match(
    sent: CommandEnvelope, command: StartMatch, state: MatchState, context: DecisionContext
) -> Decision:
    """Start a match, or propose one that waits for its players' consent or entropy."""
    board = sent.match
    if state.started:
        raise Refusal(Code.ALREADY_STARTED, SAY("started"))
    rules = rules_by_id(command.rules)
    check_seats(rules, command.seats)
    options = rules.read_options(command.options)
    challenged = Challenged(
        rules=command.rules,
        options=rules.write_options(options),
        seats=command.seats,
        text=command.text,
        terms=command.terms,
    )
    commitments = _commitments(command)
    opening = _opening_of(command, rules, options)
    _check_invitation(command, sent.actor)
    if command.pairing is not UNSET and (sent.actor != SERVER_ACCOUNT or command.gather):
        raise Refusal(Code.BAD_OPTION, SAY("misfit-pairing"))
    if not command.gather:
        texts = (command.text, *[b""] * (len(command.seats) - 1))
        decision = _begin_with(opening, draw_and_start(challenged, texts, board, context))
        if command.pairing is not UNSET:
            return _pair(decision, *command.pairing)
        return decision if command.lapse is UNSET else _invite(decision, sent.actor, command.lapse)
    if not rules.needs_draw(options, len(command.seats)) or len(command.seats) == 1:
        raise Refusal(Code.BAD_OPTION, SAY("no-draw"))
    if not commitments:
        return Decision((challenged,))
    proposed = {**msgspec.structs.asdict(challenged), "commitments": commitments}
    call = Called(**proposed)
    if command.lapse is not UNSET:
        call = DealProposed(
            **proposed, lapse=command.lapse, server_deals=command.server_deals is True
        )
    return advance_commitments(evolve(state, call, state.at), board, context, call)


def _opening_of(command: StartMatch, rules: AnyRules, options: Any) -> Opening | None:
    """Return the opening of a match; None without one. Refused as `recorded_opening`, also where players draw the setup."""
    if command.opening is UNSET:
        return None
    return recorded_opening(rules, options, len(command.seats), command.opening)


def _begin_with(opening: Opening | None, decision: Decision) -> Decision:
    """Return the decision by which a match starts, with its opening."""
    if opening is None:
        return decision
    (started,) = decision.events
    assert isinstance(started, MatchStarted)
    mover = rules_by_id(started.rules).to_move(opening.position)
    started = msgspec.structs.replace(started, next=mover)
    given = OpeningGiven(moves=opening.moves)
    return Decision((started, given), pack_position(opening.position))


def _invite(decision: Decision, challenger: AccountId, lapse: int) -> Decision:
    """Return the decision by which a match starts, with its players invited; robots accept at once."""
    started, *rest = decision.events
    assert isinstance(started, MatchStarted)
    invited = _others(started.seats, challenger)
    proposed = MatchProposed(**msgspec.structs.asdict(started), invited=invited, lapse=lapse)
    return msgspec.structs.replace(decision, events=(proposed, *rest))


def _pair(decision: Decision, tournament: int, pairing: int) -> Decision:
    """Return the decision by which a match of a tournament starts."""
    started, *rest = decision.events
    assert isinstance(started, MatchStarted)
    fields = msgspec.structs.asdict(started)
    paired = MatchPaired(**fields, tournament=tournament, pairing=pairing)
    return msgspec.structs.replace(decision, events=(paired, *rest))


def _check_invitation(command: StartMatch, challenger: AccountId) -> None:
    """Refuse an invitation of nobody, or to a deal that nobody commits to."""
    invites = command.lapse is not UNSET
    commits = command.gather and command.commitments is not UNSET
    fits = bool(_others(command.seats, challenger)) and (commits or not command.gather)
    deals = command.server_deals
    if (invites and not fits) or (deals is not UNSET and not (deals and invites and commits)):
        raise Refusal(Code.BAD_OPTION, SAY("misfit-invitation"))


def _others(seats: Sequence[AccountId], challenger: AccountId) -> tuple[Seat, ...]:
    """Return the seats of the players, other than the challenger, who are no robots."""
    return tuple(
        seat
        for seat, account in enumerate(seats)
        if account != challenger and robot_level(account) is None
    )


def _commitments(command: StartMatch) -> tuple[Commitment, ...]:
    """Return the commitments that came with the start; raises `Refusal` with `bad-option`."""
    if command.commitments is UNSET:
        return ()
    fits = len(command.commitments) == len(command.seats)
    if not command.gather or command.text or not fits:
        raise Refusal(Code.BAD_OPTION, SAY("misfit"))
    for one in command.commitments:
        if one != Commitment():
            _check_commitment(one)
    return command.commitments


def _check_commitment(commitment: Commitment) -> None:
    if len(commitment.digest) != _DIGEST_BYTES or len(commitment.word_digest) not in (
        0,
        _DIGEST_BYTES,
    ):
        raise Refusal(Code.BAD_OPTION, SAY("commitment"))


def decide_before_draw(
    sent: CommandEnvelope, seat: Seat, state: MatchState, context: DecisionContext
) -> Decision:
    """Decide a player's command in a match that waits for its players' entropy."""
    command, now = sent.command, max(context.received, state.at)
    check_commit_time(state, now)
    match command:
        case StartVacation() | EndVacation():
            return Decision((decide_vacation(command, seat, state, now),))
        case AnswerOffer() | MakeOffer() if state.sealed and (
            state.offer is not None or isinstance(command, MakeOffer)
        ):
            return _offer_deal(command, seat, state, sent.match, context)
        case ResignMatch() if state.invited:
            return decline_match(seat, state)
        case DeclineMatch() | AnswerOffer(accept=False):
            sealed = end_without_texts((seat,), context.unseen) if state.sealed else None
            return sealed or decline_match(seat, state)
        case RevealText():
            return reveal_text(
                _checked_text(command, seat, state), seat, state, sent.match, context
            )
        case AnswerOffer() if seat in state.waits and not state.sealed:
            return _accept_match(command, seat, state, sent.match, context)
        case AnswerOffer():
            raise Refusal(Code.OFFER_STANDS, SAY("joined"))
        case _:
            raise Refusal(Code.NOT_STARTED, SAY("unrevealed") if state.sealed else SAY("waits"))


def _offer_deal(
    command: MakeOffer | AnswerOffer,
    seat: Seat,
    state: MatchState,
    board: int,
    context: DecisionContext,
) -> Decision:
    """Propose that the server deals without the missing texts, or answer that; deal once all agree."""
    decision = offer_deal(command, seat, state)
    (event,) = decision.events
    agreed = isinstance(event, OfferAnswered) and event.accept
    if agreed and evolve(state, event, state.at).offer is None:
        return draw_sealed(state, board, context, event)
    return decision


def _accept_match(
    command: AnswerOffer, seat: Seat, state: MatchState, board: int, context: DecisionContext
) -> Decision:
    """Accept a match: with a commitment, or with the text itself if the match takes no commitments."""
    if state.gather is not None:
        if command.commitment is UNSET:
            raise Refusal(Code.BAD_OPTION, SAY("uncommitted"))
        _check_commitment(command.commitment)
        committed = Committed(seat=seat, commitment=command.commitment)
        return advance_commitments(evolve(state, committed, state.at), board, context, committed)
    if command.commitment is not UNSET:
        raise Refusal(Code.BAD_OPTION, SAY("takes-text"))
    gathered = Gathered(seat=seat, text=command.text)
    after = evolve(state, gathered, state.at)
    if after.waits:
        return Decision((gathered,))
    if after.imported is not None:
        return start_imported(after, after.imported, gathered)
    texts = tuple(text or b"" for text in after.texts)
    return draw_and_start(proposal_of(after), texts, board, context, gathered)


def _checked_text(command: RevealText, seat: Seat, state: MatchState) -> bytes:
    """Return the text that a player reveals; raises `Refusal` if it is not due or not the right one."""
    if state.gather is None:
        raise Refusal(Code.TOO_LATE, SAY("nothing"))
    if not state.sealed:
        raise Refusal(Code.TOO_EARLY, SAY("early"))
    if state.texts[seat] is not None:
        raise Refusal(Code.TOO_LATE, SAY("revealed"))
    if len(command.text) > ENTROPY_TEXT_LIMIT or not state.gather.commitments[seat].matches(
        command.text
    ):
        raise Refusal(Code.WRONG_TEXT, SAY("wrong-text"))
    return command.text
