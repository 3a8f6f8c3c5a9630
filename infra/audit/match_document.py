"""Match documents: a whole match as one JSON object, with the proofs that it was recorded.

Game, moves and result are for readers, and follow from the leaves; the leaves are the record. Keys in a
document prove nothing by themselves. See `docs/formats.md`.
"""

import re
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from domain.match.clocks import ClockTurn
from domain.match.history import is_event
from domain.rules import Seat

FORMAT: Final = "matchpost-match/1"

DOCUMENT_LIMIT: Final = 64 << 20
"""The most bytes of a document: about 40,000 leaves with their proofs."""

MOST_IMPORTS: Final = 16
"""How often a match may have been imported: so many documents may be in each other."""

HEADER: Final = b'{"format":"matchpost-match/1",'
"""The beginning of a document as it is written."""

MOST: Final = (1 << 63) - 1

Document = TypeVar("Document")

Count = Annotated[int, Meta(ge=0, le=MOST)]
Account = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class DocumentError(ValueError):
    """Bytes are no match document; the message is a sentence."""


class DocumentPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a document. What is unknown is refused, because nobody has checked it."""


class DocumentSeat(DocumentPart, frozen=True):
    """A seat of the match."""

    account: Account
    """In hex."""
    userid: str | None
    """As it was when the document was made. Nothing proves it. None for an erased account."""
    side: str


class DocumentResult(DocumentPart, frozen=True):
    """How the match ended."""

    winners: tuple[Seat, ...]
    reason: str


class DocumentLeaf(DocumentPart, frozen=True):
    """A leaf of the match, an event or a refusal."""

    index: Count
    """Its place in the shard's log."""
    leaf: bytes
    outcome: bytes | UnsetType = UNSET
    """The stored outcome of the command, at the first of its leaves."""


class LeafProof(DocumentPart, frozen=True):
    """The path of a leaf to the root of the document's checkpoint."""

    index: Count
    hashes: tuple[bytes, ...]


class DocumentLog(DocumentPart, frozen=True):
    """The published log that has the leaves."""

    shard: Count
    origin: str | None
    """None if the server publishes no log."""
    keys: tuple[str, ...]
    """Verifier keys of checkpoints, the newest first."""
    receipt_keys: tuple[str, ...]
    checkpoint: str | None
    """The signed note; None before the first one."""
    proofs: tuple[LeafProof, ...]
    """One for each leaf that the checkpoint covers, in the order of the leaves."""


class DocumentAnchor(DocumentPart, frozen=True):
    """The leaf that fixed the seeds of the draw."""

    chain: Count
    index: Count
    leaf: bytes
    proof: tuple[bytes, ...] | None
    """Its path to the root of the document's checkpoint; None if that does not cover it yet."""


class DocumentStatement(DocumentPart, frozen=True):
    """A text whose digest is in an event."""

    digest: Digest
    """SHA-256 of salt and text, in hex."""
    salt: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    account: Account
    at: Count
    """ms since 1970."""
    text: str


class MatchDocument(DocumentPart, frozen=True):
    """A match, with all that is needed to check it without a server."""

    format: Literal["matchpost-match/1"]
    game: str
    rules: str
    players: Annotated[int, Meta(ge=1, le=255)]
    options: tuple[str, ...]
    setup: Any
    moves: tuple[str, ...]
    board: Annotated[int, Meta(ge=1, le=MOST)]
    server: str | None
    seats: tuple[DocumentSeat, ...]
    result: DocumentResult | None
    leaves: tuple[DocumentLeaf, ...]
    """All leaves of the match in log order."""
    log: DocumentLog
    anchor: DocumentAnchor | None
    """None for a match in which chance decides nothing."""
    receipts: tuple[str, ...]
    """Signed notes for leaves that the checkpoint does not cover."""
    statements: tuple[DocumentStatement, ...]
    clock: tuple[ClockTurn, ...]
    """The turns that are over; they follow from the events."""
    imported_from: "MatchDocument | None"
    """The document of the match on the server where it was played before."""


class _AnyFormat(msgspec.Struct, frozen=True):
    format: str


_DOCUMENTS: Final = msgspec.json.Decoder(MatchDocument)
_ENCODER: Final = msgspec.json.Encoder()
_FORMAT_NAME: Final = re.compile(r"[a-z-]{1,40}/[0-9]{1,9}")


def write_document(document: DocumentPart) -> bytes:
    """Return a document as one line of UTF-8, which ends in a newline; `DocumentError` if it is too long."""
    data = _ENCODER.encode(document) + b"\n"
    if len(data) > DOCUMENT_LIMIT:
        raise DocumentError(_too_long(len(data)))
    return data


def read_as(decoder: "msgspec.json.Decoder[Document]", wanted: str, data: bytes) -> Document:
    """Return the document of the wanted format; otherwise as `read_document`."""
    if len(data) > DOCUMENT_LIMIT:
        raise DocumentError(_too_long(len(data)))
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise DocumentError(_other_format(data, wanted) or _sentence(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DocumentError(f"a match document is JSON: {error}") from None
    except RecursionError:
        raise DocumentError("the document is nested too deeply") from None


def read_document(data: bytes) -> MatchDocument:
    """Return the document; `DocumentError` if the bytes are none. Nothing is checked against anything."""
    found = read_as(_DOCUMENTS, FORMAT, data)
    inner, depth = found, 0
    while inner.imported_from is not None:
        inner, depth = inner.imported_from, depth + 1
    if depth > MOST_IMPORTS:
        raise DocumentError(f"at most {MOST_IMPORTS} documents are in each other, not {depth}")
    return found


def without_private_parts(document: MatchDocument) -> MatchDocument:
    """Return the document as another server may keep it for good and show it to everybody.

    Userids and the texts of statements belong to people, who may have them erased; the outcome of a refusal
    may quote what its sender mistyped. Nothing that is proven is lost.
    """
    return replace(
        document,
        seats=tuple(replace(seat, userid=None) for seat in document.seats),
        leaves=tuple(
            one if is_event(one.leaf) else replace(one, outcome=UNSET) for one in document.leaves
        ),
        statements=(),
    )


def document_digest(document: MatchDocument) -> bytes:
    """Return SHA-256 of a document as it is written, which names it in an import."""
    return sha256(write_document(document)).digest()


def _too_long(size: int) -> str:
    return f"a match document has at most {DOCUMENT_LIMIT} bytes, and this one {size}"


def has_format(data: bytes, name: str) -> bool:
    """Return whether bytes are a JSON object that says that it is of a format."""
    return _format_of(data) == name


def _format_of(data: bytes) -> str:
    try:
        return msgspec.json.decode(data, type=_AnyFormat).format
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def _other_format(data: bytes, wanted: str) -> str:
    """Return a sentence if the document is of another format; empty if it is not."""
    name = _format_of(data)
    if name in (wanted, ""):
        return ""
    shown = name if _FORMAT_NAME.fullmatch(name) else "of no name that is known"
    return f"the document has the format {shown}, and this version reads {wanted}"


def _sentence(error: Exception) -> str:
    said = "".join(one if one.isprintable() else "?" for one in str(error))
    return f"the document is not of its form: {said[:1].lower()}{said[1:]}"
