"""The parts of the page that checks files, against public vectors."""

import json
from hashlib import sha256
from pathlib import Path

from tests.helpers.checked_files import encode

VECTORS = Path(__file__).parents[2] / "vectors" / "merkle" / "inclusion"


def test_inclusion_proofs_are_judged_like_the_public_vectors(page):
    cases = [json.loads(file.read_text()) for file in sorted(VECTORS.rglob("*.json"))]
    found = page.evaluate(
        """(cases) => cases.map((one) => {
          const read = (text) => matchpost.fromBase64(text ?? "", "a hash");
          try {
            matchpost.checkInclusion(read(one.leafHash), one.leafIdx, one.treeSize,
                                     (one.proof ?? []).map(read), read(one.root));
            return "";
          } catch (problem) {
            return problem.message;
          }
        })""",
        cases,
    )
    assert len(cases) > 40
    wrong = [
        (one["desc"], text)
        for one, text in zip(cases, found, strict=True)
        if bool(text) != one["wantErr"] and "32 bytes" not in text
    ]
    assert wrong == []


def test_signed_notes_of_the_specification_hold(page):
    key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    note = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n\n"
        "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )
    judge = """async ([key, note]) => {
      const known = matchpost.readKey(key);
      const { text, signatures } = matchpost.readNote(note);
      return matchpost.signatureHolds(known, text, signatures[0].bytes);
    }"""
    assert page.evaluate(judge, [key, note]) is True
    assert page.evaluate(judge, [key, note.replace("answer", "problem")]) is False


def test_sha256_is_that_of_the_standard_at_every_length(page):
    texts = [bytes(at % 251 for at in range(length)) for length in (*range(140), 1_000, 70_001)]
    found = page.evaluate(
        "(texts) => texts.map((text) => [...matchpost.sha256(matchpost.fromBase64(text, ''))])",
        [encode(text) for text in texts],
    )
    assert [bytes(one) for one in found] == [sha256(text).digest() for text in texts]
