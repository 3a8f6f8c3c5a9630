"""Changes of an exported match, as somebody makes them who would deceive its reader."""

from collections.abc import Callable
from typing import Any

from infra.log.names import LogSecret
from tests.helpers.checked_files import flip64

Change = Callable[[Any], object]
Table = dict[str, tuple[Change, str]]
"""Changes by their names, with the first step that fails."""


def of_log(**fields: Any) -> Change:
    return lambda found: found["log"].update(fields)


def of(**fields: Any) -> Change:
    return lambda found: found.update(fields)


def note_with(line: int, text: str) -> Change:
    """Change a line of the checkpoint."""

    def tamper(found: Any) -> None:
        lines = found["log"]["checkpoint"].split("\n")
        lines[line] = text or flip64(lines[line], 5)
        found["log"]["checkpoint"] = "\n".join(lines)

    return tamper


def signature_with(change: Callable[[str], str]) -> Change:
    def tamper(found: Any) -> None:
        note = found["log"]["checkpoint"]
        head, _, signed = note.removesuffix("\n").rpartition(" ")
        found["log"]["checkpoint"] = f"{head} {change(signed)}\n"

    return tamper


def receipt_with(line: int, text: str) -> Change:
    """Change a line of the first receipt."""

    def tamper(found: Any) -> None:
        lines = found["receipts"][0].split("\n")
        lines[line] = text or flip64(lines[line], 5)
        found["receipts"][0] = "\n".join(lines)

    return tamper


def signed_by(secret: LogSecret) -> Change:
    """Sign the checkpoint with another key, and put that key into the file."""

    def tamper(found: Any) -> None:
        signer = secret.signer(1)
        text = found["log"]["checkpoint"].partition("\n\n")[0] + "\n"
        found["log"]["checkpoint"] = f"{text}\n{signer.signature(text)}"
        found["log"]["keys"] = [str(signer.key)]

    return tamper


def swap(found: Any) -> None:
    leaves = found["leaves"]
    leaves[3], leaves[4] = leaves[4], leaves[3]


def drop_leaf(place: int) -> Change:
    def tamper(found: Any) -> None:
        index = found["leaves"].pop(place)["index"]
        proofs = found["log"]["proofs"]
        proofs[:] = [proof for proof in proofs if proof["index"] != index]

    return tamper


def of_proof(change: Callable[[list[str]], object]) -> Change:
    return lambda found: change(found["log"]["proofs"][4]["hashes"])


def of_leaf(place: int, **fields: Any) -> Change:
    return lambda found: found["leaves"][place].update(fields)


def of_anchor(**fields: Any) -> Change:
    return lambda found: found["anchor"].update(fields)


def set_hash(at: int) -> Callable[[list[str]], object]:
    def tamper(hashes: list[str]) -> None:
        hashes[at] = flip64(hashes[at], 31)

    return tamper
