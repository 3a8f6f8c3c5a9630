"""The check of a receipt or a proof that somebody has as a file, by keys from elsewhere."""

from collections.abc import Sequence

import msgspec

from domain.match.history import AnchorLeaf, EventEnvelope, decode_leaf, leaf_hash
from domain.tournament.events import TournamentEventBody
from infra.audit.check_document import EvidenceVerdict, check_document
from infra.audit.faults import NotCheckableError, count, printable
from infra.audit.match_document import DocumentError, MatchDocument
from infra.audit.tournament_document import read_any_document
from infra.log.checkpoint import PROOF_HEADER, InclusionProof, LogCheckpoint
from infra.log.names import keys_of_log
from infra.log.receipts import KEY_SUFFIX, Receipt, open_receipt, read_receipt
from infra.log.signed_note import NoteError, VerifierKey, split_note

FILE_LIMIT = 1 << 20
"""The most bytes of a receipt or a proof."""


class CheckedFile(msgspec.Struct, frozen=True):
    """The result of checking a file."""

    name: str
    """The kind of file and its subject, such as `the document of match 17`."""
    verdict: EvidenceVerdict


def check_file(data: bytes, keys: Sequence[VerifierKey]) -> CheckedFile:
    """Check what is recognised by its content: a match document, a receipt or a proof.

    Raises `NotCheckableError` if it is none of these, or if it can't be checked with these keys.
    """
    try:
        name, verdict = _check(data, keys)
    except NotCheckableError as error:
        raise NotCheckableError(printable(str(error))) from None
    shown = EvidenceVerdict(
        list(map(printable, verdict.holds)),
        printable(verdict.fault),
        list(map(printable, verdict.limits)),
    )
    return CheckedFile(printable(name), shown)


def _check(data: bytes, keys: Sequence[VerifierKey]) -> tuple[str, EvidenceVerdict]:
    if data.lstrip()[:1] in (b"{", b"["):
        return _check_document(data, keys)
    if len(data) > FILE_LIMIT:
        raise NotCheckableError(
            "it isn't a match document, and is too long for a receipt or a proof"
        )
    try:
        text = data.decode()
        if text.startswith(PROOF_HEADER.partition("@")[0]):
            return _check_proof(InclusionProof.parse(text), keys)
        return _check_receipt(data, read_receipt(data), keys)
    except UnicodeDecodeError:
        raise NotCheckableError(
            "it isn't a match document, a receipt or a proof, because it isn't UTF-8 text"
        ) from None
    except NoteError as error:
        raise NotCheckableError(
            f"it isn't a match document, and can't be read as a receipt or a proof: {error}"
        ) from None


def _check_document(data: bytes, keys: Sequence[VerifierKey]) -> tuple[str, EvidenceVerdict]:
    try:
        document = read_any_document(data)
    except DocumentError as error:
        raise NotCheckableError(str(error)) from None
    of = f" of {document.server}" if document.server else ""
    kind = "match" if isinstance(document, MatchDocument) else "tournament"
    return f"the document of {kind} {document.board}{of}", check_document(document, keys)


def _check_receipt(
    data: bytes, receipt: Receipt, keys: Sequence[VerifierKey]
) -> tuple[str, EvidenceVerdict]:
    name = f"the receipt for event {receipt.seq} of match {receipt.board}"
    fitting = keys_of_log(keys, f"{receipt.origin}{KEY_SUFFIX}")
    if not fitting:
        raise NotCheckableError(
            f"it is a receipt of {receipt.origin} for match {receipt.board}, and a receipt has no key in it: "
            f"name the key {receipt.origin}{KEY_SUFFIX} with --key"
        )
    try:
        open_receipt(data, fitting)
    except NoteError as error:
        return name, EvidenceVerdict([], f"the signature: {error}")
    return (
        name,
        EvidenceVerdict(
            [
                f"it is signed by {receipt.origin}{KEY_SUFFIX}",
                (
                    f"the server has promised that a leaf with the hash {receipt.leaf_hash.hex()} is in its log: "
                    f"of match {receipt.board}, at {receipt.at} ms since 1970, event {receipt.seq} or a refusal "
                    "after it"
                ),
            ],
            limits=["a receipt is a promise; a proof shows that the leaf is in the log"],
        ),
    )


def _check_proof(proof: InclusionProof, keys: Sequence[VerifierKey]) -> tuple[str, EvidenceVerdict]:
    origin = LogCheckpoint.parse(split_note(proof.checkpoint)[0]).origin
    name = f"the proof of leaf {proof.index} of {origin}"
    if not proof.extra:
        raise NotCheckableError(
            f"it is {name}, and has no leaf in it; only a proof with its leaf can be checked alone"
        )
    fitting = keys_of_log(keys, origin)
    if not fitting:
        raise NotCheckableError(
            f"it is {name}, and a proof has no key in it: name the key {origin} with --key"
        )
    try:
        said = _describe_leaf(proof.extra)
        head = proof.verify(leaf_hash(proof.extra), origin, fitting)
    except (ValueError, msgspec.MsgspecError) as error:
        return name, EvidenceVerdict([], f"leaf {proof.index}: {error}")
    return (
        name,
        EvidenceVerdict(
            [f"the leaf is {said}", f"a signed checkpoint at {count(head.size, 'leaf')} covers it"],
            limits=["a proof of one leaf says nothing about the match before and after it"],
        ),
    )


def _describe_leaf(leaf: bytes) -> str:
    """Return a leaf's kind and place; `msgspec.DecodeError` for bytes that are none."""
    match decode_leaf(leaf):
        case EventEnvelope() as event:
            kind = event.body.__struct_config__.tag
            of = "tournament" if isinstance(event.body, TournamentEventBody) else "match"
            return f"event {event.seq} of {of} {event.match}, `{kind}`, at {event.at} ms since 1970"
        case AnchorLeaf() as anchor:
            return f"the anchor of chain {anchor.chain} of seeds of shard {anchor.shard}"
        case refusal:
            return f"a refusal in match {refusal.match} as {refusal.code}, at {refusal.at} ms since 1970"
