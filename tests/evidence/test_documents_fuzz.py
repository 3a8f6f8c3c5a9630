"""Whatever is given to `matchpost verify` and the referee is answered: a sample of `trials/fuzz/documents.py`."""

import random
from collections import Counter

from infra.audit.check_document import check_document
from infra.audit.match_document import read_document
from tests.helpers.evidence import KINDS, golden_document
from trials.fuzz.documents import INPUTS, a_forged_document, check

SAMPLE = 300


def test_each_input_is_answered():
    chance = random.Random(5)
    found = Counter(check(chance.choice(list(INPUTS)), chance) for _ in range(SAMPLE))
    assert {
        "document, holds",
        "forged document, does not hold",
        "tampered document, does not hold",
        "changed file, can't be checked",
        "proof, holds",
        "receipt, holds",
    } <= found.keys()


def test_a_forged_history_holds_only_if_it_is_the_beginning_of_a_real_one():
    real = [[one.leaf for one in golden_document(kind).leaves] for kind in KINDS]
    found = Counter[bool]()
    for seed in range(SAMPLE):
        document = read_document(a_forged_document(random.Random(seed)))
        holds = not check_document(document).fault
        leaves = [one.leaf for one in document.leaves]
        if holds:
            assert any(leaves == one[: len(leaves)] for one in real)
        found[holds] += 1
    assert found[False] > SAMPLE * 0.8
    assert found[True]
