"""Files for `matchpost verify` and the referee, by the thousand: each is answered, and none fails.

    python trials/fuzz/documents.py [COUNT] [SEED]

The inputs are match documents, receipts and proofs, valid and changed: at any byte; at one place of the JSON; and
with events that a forger made, chained by right hashes in a log that the forger has signed. Whatever comes, the
check says that it holds, names what does not, or says why it can't be checked; the referee answers with one line.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from msgspec.structs import replace

from domain.match import history
from infra.audit.check_file import check_file
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import MatchDocument, write_document
from infra.log.checkpoint import InclusionProof
from infra.log.log_writer import LogWriter
from infra.log.published_log import PublishedLog
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.log.signed_note import VerifierKey
from infra.settings.game_packages import load_games
from services.cli.referee import judge
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.evidence import KINDS, SECRET, golden_document, tamper
from trials.fuzz.log_inputs import mutate

sys.path.insert(0, str(Path(__file__).parents[2]))

KEYS: Final[list[list[VerifierKey]]] = [[], [SECRET.public]]
_NUMBERS: Final = (-1, 0, 1, 2, 3, 7, 255, 256, 65_536, 1 << 31, 1 << 40, (1 << 63) - 1)
_TEXTS: Final = ("", "a1", "a1-a5", "draw", "pow2/1", "halves/1", "\x00", "-fast", "x" * 300)


def a_document(chance: random.Random) -> bytes:
    """A document that holds, some with leaves that are not published."""
    return write_document(golden_document(chance.choice(KINDS), chance.choice((0, 0, 1, 2))))


def a_receipt(chance: random.Random) -> bytes:
    leaf = chance.choice(golden_document("timed").leaves).leaf
    note = Receipt.of_leaf("play.example.org/log/s01", leaf).sign([SECRET.signer(1, KEY_SUFFIX)])
    return note.encode()


def a_proof(chance: random.Random) -> bytes:
    document = golden_document("timed")
    place = chance.randrange(len(document.leaves))
    proof = document.log.proofs[place]
    note = cast("str", document.log.checkpoint)
    leaf = document.leaves[place].leaf
    return str(InclusionProof(proof.index, proof.hashes, note, leaf)).encode()


def a_changed_file(chance: random.Random) -> bytes:
    return mutate(chance, chance.choice((a_document, a_receipt, a_proof))(chance))


def a_tampered_document(chance: random.Random) -> bytes:
    """A document that is changed at one place of its JSON."""
    return tamper(golden_document(chance.choice(KINDS), chance.choice((0, 1))), chance)[0]


def a_forged_document(chance: random.Random) -> bytes:
    """A document of a history that nobody decided, chained and signed as if it were real."""
    document = golden_document(chance.choice(KINDS))
    events = [
        history.decode_event(one.leaf) for one in document.leaves if history.is_event(one.leaf)
    ]
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(events))
        match chance.randrange(6):
            case 0:
                del events[at:]
            case 1:
                events.insert(at, chance.choice(events))
            case 2:
                other = history.decode_event(
                    chance.choice(golden_document(chance.choice(KINDS)).leaves).leaf
                )
                events[at : at + 1] = [other]
            case _:
                events[at] = _other_event(events[at], chance)
        if not events:
            return a_document(chance)
    return write_document(_signed(document, _chained(events, document.board)))


def _other_event(event: history.EventEnvelope, chance: random.Random) -> history.EventEnvelope:
    """An event with one field of its body, or its time or actor, changed."""
    names = event.body.__struct_fields__
    if not names or chance.random() < 0.1:
        return replace(event, at=chance.choice(_NUMBERS), actor=chance.randbytes(8))
    name = chance.choice(names)
    body = replace(event.body, **{name: other(getattr(event.body, name), chance)})
    return replace(event, body=body)


def other(old: Any, chance: random.Random) -> Any:  # noqa: PLR0911 - one case a type
    match old:
        case bool():
            return not old
        case int():
            return chance.choice([*(one for one in _NUMBERS), old + 1, old - 1])
        case str():
            return chance.choice([*_TEXTS, old[:-1], old + old])
        case bytes():
            return chance.choice([b"", old[:-1], chance.randbytes(32), old + old])
        case tuple():
            found = list(old) or [chance.choice(_NUMBERS[:5])]
            at = chance.randrange(len(found))
            found[at] = other(found[at], chance)
            return tuple(chance.choice([found, found[:at], found + found]))
        case msgspec.Struct():
            name = chance.choice(old.__struct_fields__)
            return replace(old, **{name: other(getattr(old, name), chance)})
        case _:
            return chance.choice([None, 0, 1])


def _chained(events: list[history.EventEnvelope], board: int) -> list[bytes]:
    """The bytes of events with right numbers, and the hash of the one before in each."""
    found: list[bytes] = []
    for seq, event in enumerate(events, 1):
        prev = history.leaf_hash(found[-1]) if found else history.NO_HASH
        # one that can't be encoded has a list where a number belongs, or is too long
        found.append(history.encode_event(replace(event, match=board, seq=seq, prev=prev)))
    return found


def _signed(document: MatchDocument, leaves: list[bytes]) -> MatchDocument:
    """The document with these leaves, proved in a log of their own."""
    shard = document.log.shard
    objects, signer = MemoryObjects(), SECRET.signer(shard)
    writer = LogWriter(objects, shard, [signer])
    writer.load()
    writer.append(leaves)
    log = PublishedLog(objects, shard, [signer.key])
    log.refresh()
    kept = [*document.leaves, *document.leaves * 2]
    rows = [
        replace(kept[index], index=index, leaf=leaf)
        for index, leaf in enumerate(leaves[: len(kept)])
    ]
    proofs = [
        replace(document.log.proofs[0], index=one.index, hashes=log.inclusion(one.index).hashes)
        for one in rows
    ]
    part = replace(document.log, checkpoint=log.note.decode(), proofs=tuple(proofs))
    return replace(document, leaves=tuple(rows), log=part)


INPUTS: Final[dict[str, Callable[[random.Random], bytes]]] = {
    "document": a_document,
    "receipt": a_receipt,
    "proof": a_proof,
    "changed file": a_changed_file,
    "tampered document": a_tampered_document,
    "forged document": a_forged_document,
}


def check(name: str, chance: random.Random) -> str:
    """Check an input and have it judged; return what came of it."""
    data = INPUTS[name](chance)
    keys = chance.choice(KEYS)
    try:
        verdict = check_file(data, keys).verdict
        result = "does not hold" if verdict.fault else "holds"
        said = [*verdict.holds, *verdict.limits, verdict.fault]
    except NotCheckableError as error:
        result, said = "can't be checked", [str(error)]
    assert all("\n" not in one for one in said), said
    answer = msgspec.json.encode(judge(data.replace(b"\n", b" ")))
    assert b"\n" not in answer
    return f"{name}, {result}"


def main(count: int = 20_000, seed: int = 1) -> None:
    """Check so many inputs, and print what came of them."""
    load_games()
    chance, found = random.Random(seed), Counter[str]()
    for number in range(1, count + 1):
        kept = chance.getstate()
        name = chance.choice(list(INPUTS))
        try:
            found[check(name, chance)] += 1
        except Exception as error:
            chance.setstate(kept)
            raise AssertionError(f"input {number}, {chance.choice(list(INPUTS))}") from error
    for line, many in sorted(found.items()):
        print(f"{many:>9}  {line}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
