"""Fair draws against published vectors, a second reading of the specification, and chance itself."""

import hmac
import json
from hashlib import sha256
from pathlib import Path

import pytest

from domain import fairness

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "fairness-1.json").read_text())
KEY = bytes.fromhex(VECTORS["key"]["key"])
ALICE, BOB = b"alice...", b"bob....."


def stream() -> fairness.DrawStream:
    return fairness.DrawStream(KEY, "powerdrain/1")


def test_a_chain_goes_back_by_the_labelled_hash() -> None:
    chain = VECTORS["chain"]
    end = bytes.fromhex(chain["end"])
    assert fairness.previous_seed(end) == sha256(b"matchpost-seed-v1\0chain\0" + end).digest()
    for steps, seed in chain["steps back"].items():
        assert fairness.earlier_seed(end, int(steps)).hex() == seed


def test_a_players_entropy_is_the_command_id_and_the_hash_of_the_word() -> None:
    vector = VECTORS["entropy"]
    text = fairness.entropy_text(bytes.fromhex(vector["command id"]), vector["word"])
    assert text.hex() == vector["text"]
    assert fairness.contribution(ALICE, text).hex() == vector["contribution"]
    assert fairness.contribution(BOB, b"").hex() == vector["its contribution"]
    assert (
        fairness.contribution(ALICE, text)
        == sha256(b"matchpost-seed-v1\0player\0" + ALICE + text).digest()
    )


def test_the_key_is_hkdf_extract_of_seed_and_contributions_under_the_terms() -> None:
    vector, text = VECTORS["key"], bytes.fromhex(VECTORS["entropy"]["text"])
    draw = fairness.SetupDraw(1, 1, bytes.fromhex(vector["seed"]), (text, b""))
    key = fairness.draw_key(draw, (ALICE, BOB), 17, "powerdrain/1", ("-p",))
    assert key.hex() == vector["key"]
    salt = sha256(b"17 powerdrain 1 -p").digest()
    assert fairness.draw_terms(17, "powerdrain/1", ("-p",)) == salt
    material = draw.seed + fairness.contribution(ALICE, text) + fairness.contribution(BOB, b"")
    assert hmac.new(salt, material, sha256).digest() == key


def bits_again(purpose: str, count: int) -> str:
    """The stream's bits as text, read from the specification once more."""
    label = b"matchpost-seed-v1\0powerdrain/1\0" + purpose.encode() + b"\0"
    blocks = (
        hmac.new(KEY, label + counter.to_bytes(8, "big"), sha256).digest()
        for counter in range(count)
    )
    return "".join(f"{byte:08b}" for block in blocks for byte in block)


@pytest.mark.parametrize("vector", VECTORS["integers"])
def test_integers_are_the_published_ones_and_follow_the_specification(vector: str) -> None:
    purpose, _, n = vector.rpartition(" below ")
    ours = stream()
    found = [ours.below(purpose, int(n)) for _ in range(12)]
    assert found == VECTORS["integers"][vector]
    bits, width, again = bits_again(purpose, 2), (int(n) - 1).bit_length(), []
    while len(again) < 12:
        head, bits = bits[:width], bits[width:]
        number = int(head or "0", 2)
        if number < int(n):
            again.append(number)
    assert found == again


def test_nothing_is_below_zero_or_one_less() -> None:
    with pytest.raises(ValueError, match="no integer is below 0"):
        stream().below("a", 0)


# 99.99 % of uniform samples lie below, by degrees of freedom; the stream is fixed, so this is too
CRITICAL = {5: 25.74, 51: 96.99}


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 52])
def test_many_integers_are_uniform_by_chi_square(n: int) -> None:
    ours, count = stream(), 100_000
    found = [0] * n
    for _ in range(count):
        found[ours.below("chi-square", n)] += 1
    expected = count / n
    assert sum((seen - expected) ** 2 / expected for seen in found) < CRITICAL[n - 1]
