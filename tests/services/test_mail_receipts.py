"""Receipts by mail: attached to answers and notifications, and never read as commands when they come back."""

from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis import Redis

from domain.match.commands import PlayMove
from domain.match.history import decode_event, leaf_hash
from infra.log.checkpoint import open_checkpoint
from infra.log.key_files import generate_keys, read_keys, read_public_keys, read_receipt_secrets
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
from tests.helpers.mails import in_parts, part
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


def publish(office: FakeOffice) -> None:
    """Publish all leaves."""
    secret = read_keys(office.app.keys).secrets[0]
    for shard in range(4):
        writer = LogWriter(office.app.objects, shard, [secret.signer(shard)])
        writer.load()
        if leaves := [leaf for _, leaf in office.app.store.leaves(shard, writer.size, 1_000)]:
            writer.append(leaves)


def opened(office: FakeOffice, note: str, shard: int) -> Receipt:
    keys = read_public_keys(office.app.keys, "receipts-key")
    return open_receipt(note, [shard_key(key, shard, KEY_SUFFIX) for key in keys])


def names(email: Email) -> list[str]:
    return [one.name for one in email.attachments]


def test_an_answer_has_the_receipt_of_the_move_and_the_latest_checkpoint(office: FakeOffice):
    board = office.challenge()
    publish(office)
    (answer,) = office.take(office.seat(board, 0, "alice"), QUOTED)
    receipt, checkpoint = answer.attachments
    assert names(answer) == ["receipt.txt", "checkpoint.txt"]
    found = opened(office, receipt.text, board % 4)
    assert found.seq == 2
    found.check_leaf(office.app.store.events(board)[1])
    (key,) = (shard_key(one, board % 4) for one in read_public_keys(office.app.keys))
    assert open_checkpoint(checkpoint.text, key.name, [key]).size == 1
    assert answer.body.endswith(
        "-- \nAttached is the server's signed promise that this has been recorded. Keep this "
        "e-mail.\n"
    )


def email(*attachments: Attachment) -> Email:
    return Email(
        id="a@example.org", to="b@example.org", subject="s", body="text\n", attachments=attachments
    )


def test_a_name_that_could_do_harm_is_refused(office: FakeOffice):
    for name in ("a\r\nTo: x.txt", 'a".txt', "../a.txt", "A.txt", ".txt", "a" * 50 + ".txt"):
        with pytest.raises(InvalidEmailError, match="the name of an attachment"):
            serialize(email(Attachment(name, "")), office.addresses, 1)


@pytest.fixture
def receipt(office: FakeOffice) -> str:
    (answer,) = office.take(office.seat(office.challenge(), 0, "alice"), QUOTED)
    return answer.attachments[0].text


def quoted(text: str, mark: str = "> ") -> str:
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def test_a_receipt_in_a_reply_is_no_command(office: FakeOffice, receipt: str):
    below = quoted(receipt)
    for text in (
        f"{QUOTED}\n\n{below}", f"{below}\n{QUOTED}\n", f"{QUOTED}\n{below}",
        f"{QUOTED}\n\nOn Monday matchpost wrote:\n{receipt}", f"{QUOTED}\n\n-----Original Message-----\n{receipt}",
        f"{QUOTED}\n{receipt}", f"{QUOTED}\n\n{receipt}", f"{QUOTED}\n-- \n{receipt}",
    ):  # fmt: skip
        board = office.challenge()
        (answer,) = office.take(office.seat(board, 0, "alice"), text)
        assert answer.body.startswith(f"> {QUOTED}\nmatch {board}, #1: "), text
        assert len(office.app.store.events(board)) == 2
        assert len(office.app.store.leaf_indexes(board)) == 2


@pytest.mark.parametrize("shown", ["attachment", "inline"])
def test_a_receipt_that_is_sent_back_as_a_file_is_no_command(
    office: FakeOffice, receipt: str, shown: str
):
    board = office.challenge()
    parts = [
        part(f"{QUOTED}\n"),
        part(receipt, Content_Disposition=f'{shown}; filename="receipt.txt"'),
    ]
    (answer,) = office.deliver(office.seat(board, 0, "alice"), box("alice"), in_parts(parts))
    assert answer.body.startswith(f"> {QUOTED}\nmatch {board}, #1: ")
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
    writer = LogWriter(objects, shard, [read_keys(folder).secrets[0].signer(shard)])
    writer.load()
    writer.append([leaf for _, leaf in store.leaves(shard, 0, 10)])
    mailing.do(ALICE, PlayMove(text=QUOTED))
    work_out(mailer)
    (mail,) = [one for one in mailing.sink.messages if f"played {QUOTED}" in str(one.get_body())]
    found = files(mail)
    key = shard_key(read_receipt_secrets(folder)[0].public, shard, KEY_SUFFIX)
    receipt = open_receipt(found["receipt.txt"], [key])
    last = store.events(1)[-1]
    receipt.check_leaf(last)
    assert receipt.prev == leaf_hash(store.events(1)[0])
    assert decode_event(last).seq == receipt.seq == 2
    log_key = shard_key(read_public_keys(folder)[0], shard)
    assert open_checkpoint(found["checkpoint.txt"], log_key.name, [log_key]).size == 1
    body = mail.get_body()
    assert body is not None
    text = body.get_content().replace("\r\n", "\n")
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
