"""The files of the worked dispute in docs/audit.md: a move that came late, because the server's mail stood still.

    python -m tests.golden.make_dispute

writes them to `tests/golden/dispute/`. Keys and times are fixed, so the files are the same every time.

Bob has three days a move. He sends his second move by mail in time; the server's mail stands still, and the
move is received 40 minutes after his flag has fallen. It is refused, and he gets a receipt of the refusal. He
claims; an arbiter upholds the claim and sets the match back; he plays the move that was refused.

`rewritten.json` is what an operator on Alice's side could show later: the same match, in which no late move
ever came and the claim was dismissed, chained and signed again with the server's own keys.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from domain.clocks.time_control import DAY
from domain.match import commands
from domain.match.decide import decide
from domain.match.decision import Rejection
from domain.match.history import RefusedLeaf, decode_event, encode_event, encode_refusal, is_event
from domain.records import SCHEMA, SERVER_ACCOUNT
from infra.audit.build_document import Additions, ReadMatch
from infra.audit.match_document import DocumentStatement, MatchDocument, write_document
from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret
from infra.log.receipts import KEY_SUFFIX, Receipt
from infra.store.outcomes import encode_stored, tail
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.evidence import SECRET, HistoryStore
from tests.helpers.given import Match, challenge

FOLDER = Path(__file__).parent / "dispute"
BOARD = 17
BEGIN = 1_790_000_000_000
"""In September 2026, ms."""

MINUTE = 60_000
HOUR = 60 * MINUTE
ALICE, BOB = bytes.fromhex("5d1f0c6a7b3e9284"), bytes.fromhex("a4e81b27c05f6d39")
ARBITER = bytes.fromhex("c7093e5ab1d248f6")
USERIDS = {ALICE: "alice", BOB: "bob"}
FLAG = BEGIN + 4 * DAY + 2 * HOUR

RECEIPTS_SECRET = LogSecret(SECRET.base, bytes(range(32, 64)))
"""Receipts have a key of their own."""

CLAIM = (
    "My second move left my mail program on 25 September at 16:03, ten minutes before my time was over. "
    "Your server received it 50 minutes after that: its mail stood still. The receipt is attached."
)
REASONS = (
    "Upheld. The operator's own mail log has no mail at all between 15:30 and 16:50 on that day, when mail came "
    "every minute before and after. The receipt shows which move came, and when. The match goes on before that "
    "move, and Bob gets one day."
)
DISMISSED = "Dismissed. The log has no move of Bob's after the third move."


def statement(salt: bytes, account: bytes, at: int, text: str) -> DocumentStatement:
    digest = sha256(salt + text.encode()).hexdigest()
    return DocumentStatement(digest, salt.hex(), account.hex(), at, text)


class Server(HistoryStore):
    """One shard with one match, and leaves of others in between."""

    def __init__(self) -> None:
        self.match = Match(board=BOARD)
        self.shard = BOARD % 4
        self.log: list[bytes] = []
        self.indexes: list[int] = []
        self.stored: dict[bytes, bytes] = {}
        self.statements: list[DocumentStatement] = []
        self.foreign(3)

    def foreign(self, number: int) -> None:
        for one in range(number):
            command = sha256(b"%d %d" % (len(self.log), one)).digest()[:16]
            leaf = RefusedLeaf(
                SCHEMA, 21, BEGIN, command, b"account.", "illegal-move", "a1-a2", None
            )
            self.log.append(encode_event(leaf))

    def do(self, actor: bytes, command: commands.Command, at: int) -> None:
        before = len(self.match.events)
        self.match.do(actor, command, at)
        id_ = decode_event(self.match.events[before]).command
        digest = commands.command_digest(
            commands.encode_command(commands.CommandEnvelope(BOARD, id_, actor, command))
        )
        self.stored[id_] = encode_stored(digest, len(self.log), tail("", before + 1))
        for data in self.match.events[before:]:
            self.indexes.append(len(self.log))
            self.log.append(data)
        self.foreign(2)

    def refuse(self, actor: bytes, command: commands.Command, at: int) -> int:
        """Refuse a command; return the index of its leaf."""
        id_ = sha256(b"late").digest()[:16]
        sent = commands.CommandEnvelope(BOARD, id_, actor, command)
        rejected = decide(sent, self.match.state, self.match.given(at))
        assert isinstance(rejected, Rejection)
        leaf = encode_refusal(sent, rejected, self.match.snapshot.state.at, at)
        last = len(self.match.events)
        self.stored[id_] = encode_stored(
            commands.command_digest(commands.encode_command(sent)),
            len(self.log),
            tail(rejected.code, last, rejected.text),
        )
        self.indexes.append(len(self.log))
        self.log.append(leaf)
        return self.indexes[-1]

    def publish(self) -> None:
        self.objects = MemoryObjects()
        writer = LogWriter(self.objects, self.shard, [SECRET.signer(self.shard)])
        writer.load()
        writer.append(self.log)

    def receipt(self, index: int) -> str:
        """The receipt of the leaf at an index."""
        events = [self.log[at] for at in self.indexes if at < index and is_event(self.log[at])]
        signer = RECEIPTS_SECRET.signer(self.shard, KEY_SUFFIX)
        origin = SECRET.signer(self.shard).key.name
        before = sha256(b"\0" + events[-1]).digest()
        return Receipt.of_leaf(origin, self.log[index], len(events), before).sign([signer])

    def export(self) -> MatchDocument:
        """The match document, with the published log as it is now."""
        self.publish()
        found = self.document(
            Additions(
                userids=lambda seats: [USERIDS[one] for one in seats], statements=self._stated
            )
        )
        key = RECEIPTS_SECRET.signer(self.shard, KEY_SUFFIX).key
        return msgspec.structs.replace(
            found, log=msgspec.structs.replace(found.log, receipt_keys=(str(key),))
        )

    def _stated(self, _: ReadMatch) -> list[DocumentStatement]:
        return self.statements


def until_the_flag() -> Server:
    """The match up to the fall of Bob's flag."""
    server = Server()
    server.do(*challenge("pow2", "--days=3", seats=(ALICE, BOB)), BEGIN)
    server.do(ALICE, commands.PlayMove(text="m13-m9"), BEGIN + HOUR)
    server.do(BOB, commands.PlayMove(text="a13-c11"), BEGIN + DAY)
    server.do(ALICE, commands.PlayMove(text="m9-m7"), BEGIN + DAY + 2 * HOUR)
    server.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=3), FLAG)
    return server


def files() -> dict[str, bytes]:
    server = until_the_flag()
    late = server.refuse(BOB, commands.PlayMove(text="a1-e5", ply=3), FLAG + 40 * MINUTE)
    found = {"receipt.txt": server.receipt(late).encode()}
    server.foreign(2)
    claim(server)
    found["evidence.json"] = write_document(server.export())
    log = server.logs().open_log(server.shard)
    log.refresh()
    found["checkpoint"] = log.note
    rule(server, REASONS, upheld=True, back_to=3, time=((1, DAY),))
    server.do(BOB, commands.PlayMove(text="a1-e5"), FLAG + DAY + 5 * HOUR)
    server.do(ALICE, commands.ResignMatch(), FLAG + 2 * DAY)
    found["match.json"] = write_document(server.export())
    server.publish()
    log = server.logs().open_log(server.shard)
    log.refresh()
    proof = msgspec.structs.replace(log.inclusion(late), extra=server.log[late])
    found["proof.txt"] = str(proof).encode()
    found["keys"] = (
        f"{SECRET.signer(server.shard).key}\n"
        f"{RECEIPTS_SECRET.signer(server.shard, KEY_SUFFIX).key}\n"
    ).encode()
    return found | {"rewritten.json": rewritten(len(server.log))}


def claim(server: Server) -> None:
    text = statement(sha256(b"salt 1").digest()[:16], BOB, FLAG + 2 * HOUR, CLAIM)
    server.statements.append(text)
    server.do(BOB, commands.MakeClaim(ply=3, text=bytes.fromhex(text.digest)), FLAG + 2 * HOUR)


def rule(server: Server, reasons: str, **remedy: Any) -> None:
    text = statement(sha256(b"salt 2").digest()[:16], ARBITER, FLAG + DAY, reasons)
    server.statements.append(text)
    (case,) = server.match.state.cases
    ruling = commands.GiveRuling(claim=case.claim, text=bytes.fromhex(text.digest), **remedy)
    server.do(ARBITER, ruling, FLAG + DAY)


def rewritten(size: int) -> bytes:
    """The match without the late move, as an operator with the server's keys can sign it."""
    server = until_the_flag()
    claim(server)
    rule(server, DISMISSED, upheld=False)
    server.foreign(size - len(server.log))
    return write_document(server.export())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)
