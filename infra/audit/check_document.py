"""The check of the document of a match or a tournament without a server: what holds, and the first thing that does not.

The leaves are the record: their order, the chain of the events, every command decided again, the outcomes,
and the proofs that a published log has them. All other fields follow from them and are compared.

The check of an imported match's first event against the document of its source.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final

import msgspec

from domain.errors import Refusal
from domain.match.clocks import clock_turns
from domain.match.commands import ImportMatch
from domain.match.events import Imported
from domain.match.history import (
    EventEnvelope,
    RefusedLeaf,
    decode_event,
    decode_refusal,
    is_event,
    leaf_hash,
    replay,
)
from domain.match.imports import DOCUMENT, describe_import, import_command
from domain.match.state import ImportedMatch, MatchState
from domain.records import SCHEMA, CommandId
from domain.rules import rules_by_id
from domain.rules.missing_rules import MissingRules
from domain.tournament.state import TournamentState
from infra.audit.check_log import check_anchor, check_proofs, places
from infra.audit.faults import (
    EvidenceFault,
    NotCheckableError,
    count,
    fault_at,
    fault_of_leaf,
    printable,
    require,
)
from infra.audit.match import AcceptedCommand, MatchAudit, describe_refusals
from infra.audit.match_document import DocumentLeaf, DocumentResult, MatchDocument, document_digest
from infra.audit.tournament_document import (
    AnyDocument,
    TournamentDocument,
    accounts_in,
    pairings_of,
    tables_of,
)
from infra.log.names import keys_of_log
from infra.log.signed_note import VerifierKey
from infra.store.outcomes import CommandOutcome, parse

PLACE = "imported_from"


def import_of(events: Sequence[EventEnvelope]) -> Imported | None:
    """Return the event by which a match was imported; None for a match that began on its server."""
    body = events[0].body
    return body if isinstance(body, Imported) else None


def check_place(imported: Imported | None, source: MatchDocument | None) -> None:
    """Check that there is a document of the source where an event names one, and nowhere else."""
    if imported is None:
        require(source is None, PLACE, "no event of the match imports one")
    elif imported.source.kind == DOCUMENT:
        require(source is not None, PLACE, "it is missing, and event 1 names it")
    else:
        require(source is None, PLACE, "the match was imported from a record, not from a document")


def check_source(imported: Imported, source: MatchDocument) -> str:
    """Check that a document is the source that an event names; return a sentence.

    The document was checked by itself before.
    """
    named = imported.source
    events = [one.leaf for one in source.leaves if is_event(one.leaf)]
    for said, wanted, what in (
        (named.digest, document_digest(source), "its digest is another one"),
        (named.origin, source.log.origin or "", "it has another origin"),
        (named.board, source.board, "it has another board"),
        (named.events, len(events), "it has another number of events"),
        (named.head, leaf_hash(events[-1]), "its last event is another one"),
    ):
        require(said == wanted, PLACE, f"it is not the document that event 1 names: {what}")
    wanted_command = import_command(replay(events), imported.seats, named)
    for name in ImportMatch.__struct_fields__:
        require(
            getattr(imported, name) == getattr(wanted_command, name),
            "event 1",
            f"it goes on with other {name} than those that the source leads to",
        )
    pairs = ", ".join(
        f"{there.account} there is {here.hex()} here"
        for there, here in zip(source.seats, imported.seats, strict=True)
    )
    return (
        f"the match goes on from {count(len(events), 'event')} of board {source.board} "
        f"of {source.server or 'a server without a name'}, as event 1 says: {pairs}"
    )


LEFT_OUT: Final = (
    "no file can show that nothing is left out: later events, or refusals between those that it has"
)
"""The limit of every document."""

_CANONICAL: Final = msgspec.json.Encoder(order="deterministic")


class EvidenceVerdict(msgspec.Struct, frozen=True):
    """The result of a check, in sentences."""

    holds: list[str]
    """All that holds, in the order in which it was checked."""
    fault: str = ""
    """The first thing that does not hold, with its place; empty if all holds."""
    limits: list[str] = []
    """Parts that nothing in the document proves."""


def check_document(document: AnyDocument, trusted: Sequence[VerifierKey] = ()) -> EvidenceVerdict:
    """Check a document of a match or a tournament by keys from elsewhere, or if there are none by its own.

    Raises `NotCheckableError` if the rules of the game are not installed.
    """
    holds: list[str] = []
    try:
        if isinstance(document, MatchDocument):
            limits = _check(document, trusted, holds)
        else:
            limits = _check_tournament(document, trusted, holds)
    except EvidenceFault as fault:
        return EvidenceVerdict(list(map(printable, holds)), printable(str(fault)))
    return EvidenceVerdict(list(map(printable, holds)), limits=list(map(printable, limits)))


def _check(
    document: MatchDocument,
    trusted: Sequence[VerifierKey],
    holds: list[str],
    *,
    at_source: bool = False,
) -> list[str]:
    """Add what holds, one after another; return what is not proven.

    A document of another one's source is checked by its own keys if none of the keys from elsewhere is
    of its server.
    """
    audit, limits = _check_history(document, holds)
    state, events = audit.state, audit.events
    if not isinstance(state, MatchState):
        raise EvidenceFault("the events: they are those of a tournament")
    _check_fields(document, state, events)
    holds.append("game, players, moves, result and clock are those that the events lead to")
    if drawn := check_anchor(document, audit):
        holds.append(drawn)
    log = document.log.origin
    known = not at_source or (log is not None and bool(keys_of_log(trusted, log)))
    proofs = check_proofs(document, trusted if known else ())
    holds += proofs.holds
    limits += proofs.limits
    _check_statements(document, events, holds)
    limits += _check_import(document, import_of(events), trusted, holds)
    if any(seat.userid for seat in document.seats):
        limits.append("nothing proves that the accounts belong to these userids")
    return [*limits, LEFT_OUT]


def _check_history(document: AnyDocument, holds: list[str]) -> tuple[MatchAudit, list[str]]:
    """Decide all leaves again, and compare the outcomes; return the audit, and what is not proven."""
    _check_rules(document)
    leaves = _check_leaves(document)
    with fault_at("the events"):
        audit = MatchAudit(
            document.board,
            [one.leaf for one in document.leaves if is_event(one.leaf)],
            {seq for seq, leaf in _numbered(leaves) if isinstance(leaf, RefusedLeaf)},
        )
    holds.append(
        f"{count(len(audit.events), 'event')} in sequence, chained, and decided again by {audit.rules} with the "
        "same result"
    )
    limits = _check_outcomes(document, leaves, audit)
    holds.append(
        f"the outcomes of all commands fit their leaves{describe_refusals(audit.refusals)}"
    )
    return audit, limits


def _check_tournament(
    document: TournamentDocument, trusted: Sequence[VerifierKey], holds: list[str]
) -> list[str]:
    """Add what holds of a tournament, one after another; return what is not proven."""
    audit, limits = _check_history(document, holds)
    state = audit.state
    if not isinstance(state, TournamentState):
        raise EvidenceFault("the events: they are those of a match")
    assert state.terms is not None
    _require_same("form", document.form, state.terms.form)
    _require_same("rules", document.rules, state.terms.rules)
    _require_same("phase", document.phase, state.phase)
    _compare_rows(
        "players",
        [one.account for one in (document.organiser, *document.players)],
        [account.hex() for account in accounts_in(state)],
        "account",
    )
    _compare_rows("matches", document.matches, list(pairings_of(state)), "match")
    _compare_rows("tables", document.tables, list(tables_of(state)), "table")
    holds.append("form, phase, players, matches and tables are those that the events lead to")
    proofs = check_proofs(document, trusted)
    holds += proofs.holds
    limits += proofs.limits
    _check_statements(document, audit.events, holds)
    limits.append(
        "the results are those that the server reported; the documents of the matches show how they came about"
    )
    if any(one.userid for one in (document.organiser, *document.players)):
        limits.append("nothing proves that the accounts belong to these userids")
    return [*limits, LEFT_OUT]


def _check_import(
    document: MatchDocument,
    imported: Imported | None,
    trusted: Sequence[VerifierKey],
    holds: list[str],
) -> list[str]:
    """Check the document of the source; add what holds, and return what is not proven."""
    source = document.imported_from
    check_place(imported, source)
    if imported is None:
        return []
    if source is None:
        return [f"the match was {describe_import(ImportedMatch.of(imported))}"]
    inner: list[str] = []
    try:
        limits = _check(source, trusted, inner, at_source=True)
    except EvidenceFault as fault:
        raise EvidenceFault(f"{PLACE}: {fault}") from fault
    holds += [f"at the source: {said}" for said in inner]
    holds.append(check_source(imported, source))
    return [
        *(f"at the source: {said}" for said in limits),
        "that the players there and here are the same is what they themselves said by accepting",
    ]


def _check_rules(document: AnyDocument) -> None:
    """Raise `NotCheckableError` if the rules that the document names are not installed here."""
    try:
        missing = isinstance(rules_by_id(document.rules), MissingRules)
    except Refusal as refusal:
        raise NotCheckableError(
            f"the match can't be decided again here: {refusal.sentence}"
        ) from None
    if missing:
        raise NotCheckableError(
            f"the match can't be decided again here: the rules {document.rules!r} are not installed"
        )


def _check_leaves(document: AnyDocument) -> list[EventEnvelope | RefusedLeaf]:
    """Read the leaves, which rise in the log and are of this match; their chain is checked later."""
    found: list[EventEnvelope | RefusedLeaf] = []
    last, at, seq = -1, 0, 0
    for number, one in enumerate(document.leaves, 1):
        with fault_at(f"leaf {one.index}, number {number} of the document"):
            event = is_event(one.leaf)
            seq += event
        place = f"event {seq}, leaf {one.index}" if event else f"the refusal at leaf {one.index}"
        with fault_at(place):
            leaf = decode_event(one.leaf) if event else decode_refusal(one.leaf)
        require(one.index > last, place, f"the log has it before leaf {last}, which precedes it")
        if isinstance(leaf, RefusedLeaf):
            require(leaf.schema == SCHEMA, place, f"its schema is {leaf.schema}, not {SCHEMA}")
            require(leaf.match == document.board, place, f"it belongs to match {leaf.match}")
            require(leaf.at >= at, place, "it is older than the event before it")
        else:
            at = leaf.at
        last = one.index
        found.append(leaf)
    require(seq > 0, "leaves", "there is no event")
    return found


def _numbered(
    leaves: Sequence[EventEnvelope | RefusedLeaf],
) -> Iterator[tuple[int, EventEnvelope | RefusedLeaf]]:
    """Yield the leaves, each with the number of the last event before or at it."""
    seq = 0
    for leaf in leaves:
        seq = leaf.seq if isinstance(leaf, EventEnvelope) else seq
        yield seq, leaf


def _check_outcomes(
    document: AnyDocument, leaves: Sequence[EventEnvelope | RefusedLeaf], audit: MatchAudit
) -> list[str]:
    """Check that the first leaf of each command has its outcome, and no other leaf has one.

    Return what is not proven.
    """
    hidden = index = 0
    decided: set[CommandId] = set()
    before: EventEnvelope | RefusedLeaf | None = None
    accepted: dict[CommandId, AcceptedCommand] = {}
    for command in audit.commands():
        accepted.setdefault(command.events[0].command, command)
    for (one, place), (seq, leaf) in zip(places(document), _numbered(leaves), strict=True):
        if before is not None and leaf.command == before.command:
            require(one.outcome is msgspec.UNSET, place, "its command has an outcome already")
            require(
                one.index == index + 1, place, "it does not follow its command's leaf before it"
            )
            require(not isinstance(leaf, RefusedLeaf), place, "its command has led to events")
        elif leaf.command in decided:
            raise EvidenceFault(f"{place}: its command was decided before")
        elif isinstance(leaf, RefusedLeaf):
            outcome = None
            if one.outcome is not msgspec.UNSET:
                outcome = _outcome(one, place)
                _check_refused(outcome, leaf, seq, place)
            hidden += outcome is None
            with fault_at(place):
                audit.check_refused(leaf, outcome, seq)
        else:
            command, outcome = accepted[leaf.command], _outcome(one, place)
            with fault_of_leaf(place):
                audit.check_accepted(command, outcome)
                audit.check_digest(command, outcome)
        decided.add(leaf.command)
        before, index = leaf, one.index
    if not hidden:
        return []
    return [
        f"the outcome of {count(hidden, 'refusal')} is left out, because only the sender sees it"
    ]


def _outcome(one: DocumentLeaf, place: str) -> CommandOutcome:
    require(one.outcome is not msgspec.UNSET, place, "the outcome of its command is missing")
    assert isinstance(one.outcome, bytes)
    try:
        found = parse(one.outcome)
    except (ValueError, msgspec.MsgspecError):
        raise EvidenceFault(f"{place}: the outcome of its command can't be read") from None
    require(found.index == one.index, place, f"the outcome of its command names leaf {found.index}")
    return found


def _check_refused(outcome: CommandOutcome, leaf: RefusedLeaf, seq: int, place: str) -> None:
    require(
        outcome.code == leaf.code,
        place,
        f"it is refused as {leaf.code}, and its outcome says another code",
    )
    require(
        outcome.seq == seq,
        place,
        f"its outcome names event {outcome.seq}, and it follows event {seq}",
    )


def _check_fields(
    document: MatchDocument, state: MatchState, events: Sequence[EventEnvelope]
) -> None:
    """Compare the fields for readers with those that follow from the events."""
    rules = rules_by_id(state.rules)
    setup = None if state.setup is None else msgspec.json.decode(state.setup)
    result = state.result and DocumentResult(state.result.winners, state.result.reason)
    for field, said, wanted in (
        ("rules", document.rules, state.rules),
        ("game", document.game, rules.key),
        ("players", document.players, len(state.seats)),
        ("options", document.options, state.options),
        ("setup", document.setup, setup),
        ("result", document.result, result),
    ):
        _require_same(field, said, wanted)
    _compare_rows("moves", document.moves, state.first_moves(state.ply), "move")
    _compare_rows(
        "seats",
        [(seat.account, seat.side) for seat in document.seats],
        [(account.hex(), rules.side_names[seat]) for seat, account in enumerate(state.seats)],
        "seat",
    )
    _compare_rows("clock", document.clock, list(clock_turns(events)), "turn")


def _require_same(field: str, said: Any, wanted: Any) -> None:
    require(
        _CANONICAL.encode(said) == _CANONICAL.encode(wanted),
        field,
        f"it is not what the events say: {_shown(wanted)}",
    )


def _compare_rows(field: str, said: Sequence[Any], wanted: Sequence[Any], what: str) -> None:
    for number, (one, other) in enumerate(zip_longest(said, wanted), 1):
        require(one == other, field, f"{what} {number} is not the one that the events lead to")


def _shown(value: Any) -> str:
    text = _CANONICAL.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:60]}..."  # noqa: PLR2004 - a part of a sentence


def _check_statements(
    document: AnyDocument, events: Sequence[EventEnvelope], holds: list[str]
) -> None:
    """Check that each text is the one whose digest an event of its author has."""
    digests = {
        (text, event.actor.hex())
        for event in events
        if isinstance(text := getattr(event.body, "text", None), bytes)
    }
    for number, one in enumerate(document.statements, 1):
        place = f"statement {number}"
        digest = sha256(bytes.fromhex(one.salt) + one.text.encode()).digest()
        require(digest.hex() == one.digest, place, "its digest is that of another text")
        require((digest, one.account) in digests, place, "no event of its author has its digest")
    if document.statements:
        holds.append(
            f"{count(len(document.statements), 'statement')} with the digests in the events"
        )
