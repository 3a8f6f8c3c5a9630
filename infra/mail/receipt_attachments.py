"""The attachments that show what the server has recorded: receipts, and the latest checkpoints of the logs.

They are files and not part of the text, so that mails stay short, a reply does not repeat them, and a
signature is over the bytes of a file.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from domain.sentences import ENGLISH
from infra.languages.wording import wording
from infra.mail.email import Attachment

if TYPE_CHECKING:
    from infra.log.proofs import LogProofs
    from infra.log.receipts import ReceiptSigner


def receipt_attachments(
    receipts: Sequence[str], checkpoints: Sequence[str]
) -> tuple[Attachment, ...]:
    """Return these as files; an empty text is left out."""
    return (*_numbered("receipt", receipts), *_numbered("checkpoint", checkpoints))


def _numbered(name: str, texts: Sequence[str]) -> Iterator[Attachment]:
    for number, text in enumerate(filter(None, texts), 1):
        yield Attachment(f"{name}-{number}.txt" if number > 1 else f"{name}.txt", text)


def with_receipt_line(
    body: str, attachments: Sequence[Attachment], language: str = ENGLISH.code
) -> str:
    """Return the text of an e-mail, which ends with a signature, with a line about its receipts."""
    if not any(one.name.startswith("receipt") for one in attachments):
        return body
    line = wording(language).gettext(
        "Attached is the server's signed promise that this has been recorded. Keep this e-mail."
    )
    return f"{body}{line}\n"


class EventAttachments:
    """Makes the attachments of mails about events. `confirm` returns whether what was written is durable."""

    def __init__(
        self,
        signer: "ReceiptSigner",
        proofs: "LogProofs",
        shard_of: Callable[[int], int],
        confirm: Callable[[], bool],
    ) -> None:
        self._signer = signer
        self._proofs = proofs
        self._shard_of = shard_of
        self._confirm = confirm

    def of_event(self, board: int, event: bytes) -> tuple[Attachment, ...]:
        """Return receipt and checkpoint for a mail that an event is the last one of."""
        shard = self._shard_of(board)
        receipt = self._signer.sign(shard, event) if self._confirm() else None
        return receipt_attachments([receipt or ""], [self._proofs.checkpoint_if_any(shard)])
