"""The page that checks files finds a change of any byte of a leaf, a signature or a proof."""

import msgspec

from domain.match.history import decode_event, is_event
from tests.helpers.checked_files import File, changed, encode, evidence, flip64, flipped, with_leaf
from tests.web.verify_page.checking import first_failures


def test_every_byte_of_a_leaf_is_guarded(page):
    whole = evidence("timed", 0)
    cases, wanted = [], []
    for place in (0, 1, 15):
        index = whole.indexes[place]
        data = whole.log[index]
        for at in range(len(data)):
            cases.append(
                [
                    (
                        "a",
                        changed(
                            whole.whole(), with_leaf(place, lambda one, at=at: flipped(one, at))
                        ),
                    )
                ]
            )
            wanted.append(_step_of(data, flipped(data, at)))
    found = first_failures(page, cases, whole.keys)
    wrong = [
        (case, step, sentence, right)
        for case, ((step, sentence, _), right) in enumerate(zip(found, wanted, strict=True))
        if step not in right
    ]
    assert wrong == []
    assert len(cases) > 250


MOST_EXACT = 2**53 - 1
"""The largest number that JavaScript has exactly; the page refuses larger ones."""


def _step_of(before: bytes, after: bytes) -> set[str]:
    """The steps that may find a change of a leaf, by what the server's own reader makes of it."""
    if not is_event(before):
        return {"leaves", "inclusion"}
    try:
        event = decode_event(after)
    except (msgspec.MsgspecError, ValueError):
        return {"leaves"}
    was = decode_event(before)
    if (event.match, event.schema) != (was.match, was.schema):
        return {"leaves"}
    if event.seq != was.seq:
        return {"seq"}
    return {"leaves"} if event.at > MOST_EXACT else {"prev"}


def test_every_byte_of_a_signature_and_of_a_root_is_guarded(page):
    whole = evidence("timed", 0)
    proof = whole.proof(whole.indexes[3])
    head, _, signed = proof.removesuffix("\n").rpartition(" ")
    cases = [[("p", f"{head} {flip64(signed, at)}\n".encode())] for at in range(4, 68)]
    found = first_failures(page, cases, whole.keys)
    assert {step for step, _, _ in found} == {"signature"}
    lines = proof.split("\n")
    root = lines.index("") + 3
    cases = [
        [("p", "\n".join([*lines[:root], flip64(lines[root], at), *lines[root + 1 :]]).encode())]
        for at in range(32)
    ]
    found = first_failures(page, cases, whole.keys)
    assert {step for step, _, _ in found} == {"signature"}


def test_every_line_of_a_proof_is_guarded(page):
    whole = evidence("timed", 0)
    lines = whole.proof(whole.indexes[3]).split("\n")
    gap = lines.index("")
    wanted: list[str] = []
    cases: list[list[File]] = []

    def tampered(step: str, *changed_lines: str) -> None:
        cases.append([("p", "\n".join(changed_lines).encode())])
        wanted.append(step)

    tampered("file", "c2sp.org/tlog-proof@v2", *lines[1:])
    tampered("file", lines[0], "extra ", *lines[2:])
    tampered("file", *lines[:2], "index 007", *lines[3:])
    tampered("file", *lines[:2], *lines[3:])
    tampered("inclusion", *lines[:2], "index 7", *lines[3:])
    tampered("inclusion", *lines[:2], "index 99", *lines[3:])
    other = encode(whole.log[whole.indexes[4]])
    tampered("inclusion", lines[0], f"extra {other}", *lines[2:])
    for at in range(3, gap):
        tampered("inclusion", *lines[:at], flip64(lines[at], 9), *lines[at + 1 :])
        tampered("inclusion", *lines[:at], *lines[at + 1 :])
        tampered("inclusion", *lines[:at], lines[at], lines[at], *lines[at + 1 :])
    tampered("signature", *lines[: gap + 1], "other.example/log/s01", *lines[gap + 2 :])
    tampered("signature", *lines[: gap + 2], "21", *lines[gap + 3 :])
    found = first_failures(page, cases, whole.keys)
    assert [step for step, _, _ in found] == wanted
