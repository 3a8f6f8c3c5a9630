"""Tournament documents: a whole tournament as one JSON object, with the proofs that it was recorded.

Players, matches and tables are for readers, and follow from the leaves; the leaves are the record, as in a match
document, whose parts it has. See `docs/formats.md`.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from domain.records import AccountId
from domain.tournament.forms import form_of
from domain.tournament.state import TournamentState
from infra.audit.match_document import (
    MOST,
    Account,
    Count,
    DocumentLeaf,
    DocumentLog,
    DocumentPart,
    DocumentStatement,
    MatchDocument,
    has_format,
    read_as,
    read_document,
)

TOURNAMENT_FORMAT: Final = "matchpost-tournament/1"


class DocumentPlayer(DocumentPart, frozen=True):
    """The organiser or a player of a tournament."""

    account: Account
    """In hex."""
    userid: str | None
    """As it was when the document was made. Nothing proves it. None for an erased account."""


class DocumentPairing(DocumentPart, frozen=True):
    """A match that the tournament planned."""

    pairing: Count
    """Its number."""
    players: tuple[Count, ...]
    """Their numbers in the order of the seats, two or three."""
    board: Count | None
    """The match whose result was counted; None before that."""
    result: str
    """As `domain.tournament.results` writes it; empty without one."""


class DocumentRow(DocumentPart, frozen=True):
    """A player's row of a table."""

    player: Count
    place: Count
    points: float
    tiebreaks: tuple[float, ...]


class DocumentTable(DocumentPart, frozen=True):
    """A table, by place."""

    stage: Count
    rows: tuple[DocumentRow, ...]


class TournamentDocument(DocumentPart, frozen=True):
    """A tournament, with all that is needed to check it without a server."""

    format: Literal["matchpost-tournament/1"]
    form: str
    rules: str
    """Those of its matches."""
    phase: str
    board: Annotated[int, Meta(ge=1, le=MOST)]
    """The tournament's number."""
    server: str | None
    organiser: DocumentPlayer
    players: tuple[DocumentPlayer, ...]
    """Those who have entered; from the start on by their numbers."""
    matches: tuple[DocumentPairing, ...]
    tables: tuple[DocumentTable, ...]
    leaves: tuple[DocumentLeaf, ...]
    """All leaves of the tournament in log order."""
    log: DocumentLog
    receipts: tuple[str, ...]
    """Signed notes for leaves that the checkpoint does not cover."""
    statements: tuple[DocumentStatement, ...]

    @property
    def anchor(self) -> None:
        """None, because chance decides nothing in a tournament."""
        return


AnyDocument = MatchDocument | TournamentDocument

_DOCUMENTS: Final = msgspec.json.Decoder(TournamentDocument)


def accounts_in(state: TournamentState) -> list[AccountId]:
    """Return the accounts of a document: the organiser's, and those of its players by their numbers."""
    return [state.organiser, *(one.account for one in state.entrants)]


def pairings_of(state: TournamentState) -> Iterator[DocumentPairing]:
    """Yield the matches that events planned, with the results that they counted."""
    for number, players in state.seated:
        report = state.reports.get(number)
        board = report.board if report else None
        yield DocumentPairing(number, players, board, state.result_of(number))


def tables_of(state: TournamentState) -> Iterator[DocumentTable]:
    """Yield the tables to which events lead."""
    assert state.terms is not None
    form = form_of(state.terms)
    for section in form.tables(state):
        lines = form.table(section, state, state.terms).lines
        rows = [
            DocumentRow(
                line.player, line.place, float(line.points), tuple(map(float, line.tiebreaks))
            )
            for line in lines
        ]
        yield DocumentTable(section.stage, tuple(rows))


def players_of(
    state: TournamentState, userids: Sequence[str | None]
) -> tuple[DocumentPlayer, tuple[DocumentPlayer, ...]]:
    """Return the organiser and the players; `userids` are those of `accounts_in`."""
    organiser, *players = (
        DocumentPlayer(account.hex(), userid)
        for account, userid in zip(accounts_in(state), userids, strict=True)
    )
    return organiser, tuple(players)


def read_any_document(data: bytes) -> AnyDocument:
    """Return the document of a match or a tournament, as `read_document` does."""
    if has_format(data, TOURNAMENT_FORMAT):
        return read_as(_DOCUMENTS, TOURNAMENT_FORMAT, data)
    return read_document(data)
