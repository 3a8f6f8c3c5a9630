"""The check of a document's proofs: keys, checkpoint, the path of each leaf, receipts, and the draw's anchor."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from domain.match.history import NO_HASH, AnchorLeaf, decode_anchor, is_event, leaf_hash
from domain.records import SCHEMA
from infra.audit.build_document import drawn_chain
from infra.audit.draws import KnownSeeds
from infra.audit.faults import EvidenceFault, count, fault_at, require
from infra.audit.match import MatchAudit
from infra.audit.match_document import DocumentAnchor, DocumentLeaf, MatchDocument
from infra.audit.tournament_document import AnyDocument
from infra.log.checkpoint import LogCheckpoint, open_checkpoint
from infra.log.merkle import verify_inclusion
from infra.log.names import folder, keys_of_log
from infra.log.receipts import KEY_SUFFIX, Receipt, open_receipt
from infra.log.signed_note import VerifierKey


class ProofFindings(msgspec.Struct, frozen=True):
    """The result of checking the proofs of a document, in sentences."""

    holds: list[str]
    limits: list[str]
    """Parts that nothing in the document proves."""


def check_proofs(document: AnyDocument, trusted: Sequence[VerifierKey]) -> ProofFindings:
    """Check that the leaves are in a published log; raise `EvidenceFault` for the first fault.

    `trusted` are keys from elsewhere, as `keys_of_log` takes them. Without any the document's own are
    used, and the findings say so.
    """
    log = document.log
    if log.origin is None:
        require(not trusted, "log.origin", "it names no log, so that no key can prove anything")
        return _check_unpublished(document)
    _check_origin(document, log.origin)
    own = _own_keys(log.keys, log.origin, "keys")
    own_receipts = _own_keys(log.receipt_keys, f"{log.origin}{KEY_SUFFIX}", "receipt_keys")
    keys = keys_of_log(trusted, log.origin) if trusted else own
    receipt_keys = keys_of_log(trusted, f"{log.origin}{KEY_SUFFIX}")
    found = ProofFindings([], [])
    if trusted:
        require(
            bool(keys), "the checkpoint", f"none of the keys that you named is one of {log.origin}"
        )
    elif own:
        found.limits.append(
            "its key comes from the file itself, and anybody can make a file with a key: compare "
            f"{own[0]} with a copy from elsewhere, or name your copy with --key"
        )
    size = _check_checkpoint(document, keys, "that you named" if trusted else "in the file", found)
    if document.receipts and not receipt_keys:
        receipt_keys = own_receipts
        if trusted:
            found.limits.append("the key of its receipts comes from the file itself")
    _check_receipts(document, size, receipt_keys, found)
    require(
        bool(found.holds) or not trusted,
        "log.checkpoint",
        "nothing is signed by a key that you named",
    )
    return found


def _check_unpublished(document: AnyDocument) -> ProofFindings:
    """Check that a document of a server without a published log claims none."""
    log = document.log
    for field, value in (
        ("server", document.server),
        ("log.keys", log.keys),
        ("log.receipt_keys", log.receipt_keys),
        ("log.checkpoint", log.checkpoint),
        ("log.proofs", log.proofs),
        ("receipts", document.receipts),
        ("anchor.proof", document.anchor and document.anchor.proof),
    ):
        require(not value, field, "it is there, and the document names no log")
    return ProofFindings(
        [],
        ["the server publishes no log, so nothing shows when the leaves were recorded, or by whom"],
    )


def _check_origin(document: AnyDocument, origin: str) -> None:
    wanted = f"{document.server}/log/{folder(document.log.shard)}"
    require(
        origin == wanted, "log.origin", f"it is {origin}, and server and shard would give {wanted}"
    )


def _own_keys(texts: Iterable[str], name: str, field: str) -> list[VerifierKey]:
    found = []
    for text in texts:
        with fault_at(f"log.{field}"):
            key = VerifierKey.parse(text)
        require(key.name == name, f"log.{field}", f"{key.name} isn't a key of {name}")
        found.append(key)
    return found


def _check_checkpoint(
    document: AnyDocument, keys: Sequence[VerifierKey], whose: str, found: ProofFindings
) -> int:
    """Check the checkpoint and all paths to its root; return its size, 0 if there is none."""
    log = document.log
    assert log.origin is not None
    if log.checkpoint is None:
        require(not log.proofs, "log.proofs", "there are proofs without a checkpoint")
        require(
            document.anchor is None or document.anchor.proof is None,
            "anchor.proof",
            "there is a proof without a checkpoint",
        )
        return 0
    with fault_at("the checkpoint"):
        head = open_checkpoint(log.checkpoint, log.origin, keys)
    covered = _check_paths(document, head)
    total = len(document.leaves)
    which = "all its leaves" if covered == total else f"the first {covered} of its {total} leaves"
    found.holds.append(
        f"the checkpoint of {log.origin} at {count(head.size, 'leaf')}, signed by a key {whose}, covers {which}"
    )
    return head.size


def _check_paths(document: AnyDocument, head: LogCheckpoint) -> int:
    """Check the path of each leaf below the checkpoint's size; return their number."""
    covered = [(leaf, place) for leaf, place in places(document) if leaf.index < head.size]
    proofs = document.log.proofs
    for (leaf, place), proof in zip(covered, proofs, strict=False):
        require(
            leaf.index == proof.index, place, f"the proof in its place is one of leaf {proof.index}"
        )
        with fault_at(f"{place}: its proof does not hold"):
            verify_inclusion(leaf_hash(leaf.leaf), leaf.index, head.size, proof.hashes, head.root)
    if len(proofs) < len(covered):
        _, place = covered[len(proofs)]
        raise EvidenceFault(f"{place}: it has no proof, and the checkpoint covers it")
    require(len(proofs) == len(covered), "log.proofs", "there are more proofs than leaves")
    _check_anchor_path(document.anchor, head)
    return len(covered)


def _check_anchor_path(anchor: DocumentAnchor | None, head: LogCheckpoint) -> None:
    if anchor is None:
        return
    below = anchor.index < head.size
    require(
        below == (anchor.proof is not None),
        f"anchor, leaf {anchor.index}",
        "it has no proof, and the checkpoint covers it"
        if below
        else "it has a proof, and the checkpoint does not cover it",
    )
    if anchor.proof is not None:
        with fault_at(f"anchor, leaf {anchor.index}: its proof does not hold"):
            verify_inclusion(
                leaf_hash(anchor.leaf), anchor.index, head.size, anchor.proof, head.root
            )


def places(document: AnyDocument) -> Iterator[tuple[DocumentLeaf, str]]:
    """Yield the leaves with their names for a sentence, which have the number of their event."""
    seq = 0
    for leaf in document.leaves:
        if is_event(leaf.leaf):
            seq += 1
            yield leaf, f"event {seq}, leaf {leaf.index}"
        else:
            yield leaf, f"the refusal at leaf {leaf.index}"


def _check_receipts(
    document: AnyDocument, size: int, keys: Sequence[VerifierKey], found: ProofFindings
) -> None:
    """Check the receipts, each of which is of a leaf that the checkpoint does not cover."""
    log = document.log
    assert log.origin is not None
    wanted = {one.leaf_hash: one for one in _receipts_of(document, size, log.origin)}
    tail = len(wanted)
    promised = set()
    for number, note in enumerate(document.receipts, 1):
        with fault_at(f"receipt {number}"):
            receipt = open_receipt(note, keys)
        require(
            wanted.get(receipt.leaf_hash) == receipt,
            f"receipt {number}",
            "it is of no leaf that the checkpoint leaves open",
        )
        promised.add(receipt.leaf_hash)
    if promised:
        which = "each of the" if tail == len(promised) else f"{len(promised)} of the"
        found.holds.append(f"a receipt promises {which} {count(tail, 'leaf')} after it")
    if tail > len(promised):
        found.limits.append(
            f"no checkpoint and no receipt covers {count(tail - len(promised), 'leaf')} at the end yet"
        )


def _receipts_of(document: AnyDocument, size: int, origin: str) -> Iterable[Receipt]:
    """Yield what receipts say of the leaves from index `size` on."""
    seq, head = 0, NO_HASH
    for one in document.leaves:
        if one.index >= size:
            yield Receipt.of_leaf(origin, one.leaf, seq, head)
        if is_event(one.leaf):
            seq, head = seq + 1, leaf_hash(one.leaf)


def check_anchor(document: MatchDocument, audit: MatchAudit) -> str:
    """Check that the seed of the draw was fixed before the draw; return a sentence, empty without a draw."""
    chain, anchor = drawn_chain(audit.events), document.anchor
    if chain is None:
        require(anchor is None, "anchor", "there is one, and chance decided nothing in this match")
        return ""
    if anchor is None:
        raise EvidenceFault(
            f"anchor: it is missing, and the match draws from chain {chain} of seeds"
        )
    place = f"anchor, leaf {anchor.index}"
    with fault_at(place):
        leaf = decode_anchor(anchor.leaf)
    require(
        leaf == AnchorLeaf(SCHEMA, document.log.shard, chain, leaf.anchor)
        and anchor.chain == chain,
        place,
        f"it is not that of chain {chain} of shard {document.log.shard}",
    )
    indexes = [one.index for one in document.leaves if is_event(one.leaf)]
    known = {anchor.chain: (anchor.index, anchor.leaf)}
    with fault_at(place):
        said = audit.check_draw(document.log.shard, indexes, known.get, KnownSeeds())
    return said.removeprefix("; ")
