"""Receipts by mail: attached to answers and notifications, and never read as commands when they come back."""

from collections.abc import Callable, Iterator, Mapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.match.commands import PlayMove
from domain.match.history import decode_event, leaf_hash
from infra.log.checkpoint import open_checkpoint
from infra.log.key_files import generate_keys, read_keys, read_public_keys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.proofs import LogProofs
from infra.log.receipts import KEY_SUFFIX, Receipt, ReceiptSigner, open_receipt
from infra.mail.email import Attachment, Email, InvalidEmailError, serialize
from infra.mail.receipt_attachments import EventAttachments
from tests.fakes.memory_store import MemoryObjects
from tests.fakes.office import DOMAIN, FakeOffice, box
from tests.fakes.sink import Sink
from tests.helpers.given import ALICE, BOB
from tests.helpers.mailing import Mailing, text_of, work_out
from tests.helpers.mails import in_parts, mail, part
from workers.mail.mailer import Mailer, mail_tasks

QUOTED = "m13-j7"
"""A move that is legal at the start of pow2."""


@pytest.fixture
def office(make_office: Callable[..., FakeOffice]) -> FakeOffice:
    office = make_office()
    generate_keys(office.app.keys, DOMAIN)
    for account in office.ids.values():
        office.accounts.change_of(account, lambda old: replace(old, receipts=True))
    return office


def publish(objects: MemoryObjects, keys: Path, store: Any, shard: int) -> None:
    """Publish all leaves of a shard."""
    writer = LogWriter(objects, shard, [read_keys(keys).secrets[0].signer(shard)])
    writer.load()
    writer.append([leaf for _, leaf in store.leaves(shard, writer.size, 1_000)])


def checked(keys: Path, shard: int, files: Mapping[str, str], leaf: bytes) -> Receipt:
    """The receipt of a leaf, with a checkpoint of a log of one leaf."""
    receipts = [shard_key(one, shard, KEY_SUFFIX) for one in read_public_keys(keys, "receipts-key")]
    receipt = open_receipt(files["receipt.txt"], receipts)
    receipt.check_leaf(leaf)
    (key,) = (shard_key(one, shard) for one in read_public_keys(keys))
    assert open_checkpoint(files["checkpoint.txt"], key.name, [key]).size == 1
    return receipt


def test_an_answer_has_the_receipt_of_the_move_and_the_latest_checkpoint(office: FakeOffice):
    board = office.challenge()
    publish(office.app.objects, office.app.keys, office.app.store, board % 4)
    (answer,) = office.take(office.seat(board, 0, "alice"), QUOTED)
    files = {one.name: one.text for one in answer.attachments}
    assert list(files) == ["receipt.txt", "checkpoint.txt"]
    leaf = office.app.store.events(board)[1]
    assert checked(office.app.keys, board % 4, files, leaf).seq == 2
    assert answer.body.endswith(
        "-- \nAttached is the server's signed promise that this has been recorded. Keep this "
        "e-mail.\n"
    )


def test_a_name_that_could_do_harm_is_refused(office: FakeOffice):
    for name in ("a\r\nTo: x.txt", 'a".txt', "../a.txt", "A.txt", ".txt", "a" * 50 + ".txt"):
        files = (Attachment(name, ""),)
        one = Email(id="a@a.org", to="b@a.org", subject="s", body="text\n", attachments=files)
        with pytest.raises(InvalidEmailError, match="the name of an attachment"):
            serialize(one, office.addresses, 1)


@pytest.fixture
def receipt(office: FakeOffice) -> str:
    (answer,) = office.take(office.seat(office.challenge(), 0, "alice"), QUOTED)
    return answer.attachments[0].text


def test_a_receipt_that_comes_back_is_no_command(office: FakeOffice, receipt: str):
    below = "".join(f"> {line}\n" for line in receipt.splitlines())
    written = [
        mail(text, id_=f"<{number}@a.org>")
        for number, text in enumerate((
            f"{QUOTED}\n\n{below}", f"{below}\n{QUOTED}\n", f"{QUOTED}\n{below}",
            f"{QUOTED}\n\nOn Monday matchpost wrote:\n{receipt}", f"{QUOTED}\n\n-----Original Message-----\n{receipt}",
            f"{QUOTED}\n{receipt}", f"{QUOTED}\n\n{receipt}", f"{QUOTED}\n-- \n{receipt}",
        ))
    ]  # fmt: skip
    for shown in ("attachment", "inline"):
        file = part(receipt, Content_Disposition=f'{shown}; filename="receipt.txt"')
        written.append(in_parts([part(f"{QUOTED}\n"), file], id_=f"<{shown}@a.org>"))
    for data in written:
        board = office.challenge()
        (answer,) = office.deliver(office.seat(board, 0, "alice"), box("alice"), data)
        assert answer.body.startswith(f"> {QUOTED}\nmatch {board}, #1: "), data
        assert len(office.app.store.events(board)) == 2
        assert len(office.app.store.leaf_indexes(board)) == 2


@pytest.fixture
def mailing(redis_client: Redis, tmp_path: Path) -> Iterator[Mailing]:
    with Sink() as sink:
        mailing = Mailing(redis_client, tmp_path, sink)
        for account in (ALICE, BOB):
            mailing.change(account, lambda old: replace(old, receipts=True))
        yield mailing


def attaching(
    mailing: Mailing, folder: Path, *, durable: bool = True
) -> tuple[Mailer, MemoryObjects]:
    """A mailer that attaches receipts by the keys in a folder, and the object store of its log."""
    objects = MemoryObjects()
    proofs = LogProofs(lambda: objects, lambda: read_public_keys(folder))
    store = mailing.bench.store
    attachments = EventAttachments(
        ReceiptSigner(folder), proofs, lambda board: store.layout().shard_of(board), lambda: durable
    )
    mailer = Mailer(
        mail_tasks(
            *(store, mailing.accounts, mailing.client),
            addresses=mailing.addresses,
            composer=mailing.composing,
            relay=mailing.relay,
            sent=mailing.sent,
            clock=lambda: mailing.bench.now,
            attach=attachments.of_event,
        )
    )
    return mailer, objects


def files(message: EmailMessage) -> dict[str, str]:
    return {
        str(one.get_filename()): one.get_payload(decode=True).decode()
        for one in message.iter_attachments()
    }


def test_a_notification_has_the_receipt_of_its_last_event_and_the_checkpoint(
    mailing: Mailing, tmp_path: Path
):
    folder = tmp_path / "keys"
    generate_keys(folder, DOMAIN)
    mailer, objects = attaching(mailing, folder)
    mailing.challenge()
    store = mailing.bench.store
    shard = store.layout().shard_of(1)
    publish(objects, folder, store, shard)
    mailing.do(ALICE, PlayMove(text=QUOTED))
    work_out(mailer)
    (mail,) = [one for one in mailing.sink.messages if f"played {QUOTED}" in str(one.get_body())]
    first, last = store.events(1)
    receipt = checked(folder, shard, files(mail), last)
    assert receipt.prev == leaf_hash(first)
    assert decode_event(last).seq == receipt.seq == 2
    text = text_of(mail)
    assert text.startswith(f"match 1, #1: Light (alice) played {QUOTED}")
    assert text.endswith("signed promise that this has been recorded. Keep this e-mail.\n")
    assert max(map(len, text.splitlines())) < 100


def test_without_a_key_or_before_it_is_durable_there_is_no_receipt(
    mailing: Mailing, tmp_path: Path
):
    folder = tmp_path / "keys"
    mailer, _ = attaching(mailing, folder)
    mailing.challenge()
    work_out(mailer)
    generate_keys(folder, DOMAIN)
    hasty, _ = attaching(mailing, folder, durable=False)
    mailing.do(ALICE, PlayMove(text=QUOTED))
    work_out(hasty)
    assert len(mailing.sink.messages) == 3
    for message in mailing.sink.messages:
        assert "Attached" not in text_of(message)
        assert not list(message.iter_attachments())


def test_a_damaged_checkpoint_stops_no_mail(mailing: Mailing, tmp_path: Path, caplog):
    folder = tmp_path / "keys"
    generate_keys(folder, DOMAIN)
    mailer, objects = attaching(mailing, folder)
    objects.create(f"s{mailing.bench.store.layout().shard_of(1):02}/checkpoint", b"nonsense")
    mailing.challenge()
    work_out(mailer)
    assert [list(files(one)) for one in mailing.sink.messages] == [["receipt.txt"]] * 2
    assert "the checkpoint of shard" in caplog.text
