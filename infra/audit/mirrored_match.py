"""The check of a match by the leaves of a mirrored log: its chain, every event decided again, and its draw."""

from collections.abc import Mapping, Sequence

from domain.match.audit import verify
from domain.match.events import decode_refusal, is_event
from domain.match.history import BrokenHistory
from infra.audit.checked_refusals import CheckedRefusals
from infra.audit.draws import KnownSeeds, check_draw
from infra.audit.match_batches import CheckedMatches
from infra.audit.mirror_log import MirrorReader


class MirroredAnchors:
    """The anchors of a mirrored log; see `infra.audit.draws.AnchorSource`."""

    def __init__(self, reader: MirrorReader, anchors: Mapping[int, int]) -> None:
        self.shard = reader.shard
        self._reader = reader
        self._anchors = anchors

    def anchor(self, chain: int, seq: int) -> tuple[int, bytes]:
        """Return index and bytes of the leaf of an anchor."""
        index = self._anchors.get(chain)
        if index is None:
            raise BrokenHistory(
                seq, f"chain {chain} of seeds, from which it draws, was never anchored"
            )
        return index, self._reader.leaf(index)


def check_mirrored(
    reader: MirrorReader, anchors: Mapping[int, int], boards: range
) -> CheckedMatches:
    """Check the matches with these boards by the leaves of a mirror."""
    found, source, known = CheckedMatches(), MirroredAnchors(reader, anchors), KnownSeeds()
    for board, rows in reader.matches(boards).items():
        found.matches += 1
        try:
            events, refusals = _check(source, known, board, rows)
        except BrokenHistory as broken:
            found.faults[board] = str(broken)
        else:
            found.events += events
            found.refusals += refusals.counts
            if refusals.unexplained:
                found.unexplained[board] = str(refusals.unexplained)
    return found


def _check(
    source: MirroredAnchors, known: KnownSeeds, board: int, rows: Sequence[tuple[int, bytes]]
) -> tuple[int, CheckedRefusals]:
    """Check one match, and return how many events it has, and its refusals."""
    events = [leaf for _, leaf in rows if is_event(leaf)]
    seqs, refusals, seq = [], [], 0
    for _, leaf in rows:
        if is_event(leaf):
            seq += 1
        else:
            seqs.append(seq)
            refusals.append(decode_refusal(leaf))
    verdict = verify(board, events, set(seqs))
    check_draw(source, verdict.envelopes, [index for index, leaf in rows if is_event(leaf)], known)
    checked = CheckedRefusals(verdict)
    for before, refusal in zip(seqs, refusals, strict=True):
        checked.check(refusal, None, before)
    return verdict.events, checked
