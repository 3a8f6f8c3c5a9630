"""The keys and words of scripts: Lua unpacks them under the names and in the order of Python."""

import re

import pytest

from infra.redis import scripts
from infra.redis.scripts import Script
from infra.store import store_calls as words
from infra.store.port import MOST_AHEAD_MS, InboxEntry
from infra.store.store_calls import commit_call, submit_call
from tests.helpers.writes import SHARD, moved, submission

UNPACKED = re.compile(r"local ([\w\s,]+?)\s*=\s*unpack\((KEYS|ARGV)")
NUMBERS = re.compile(r"local ([A-Z_]+(?:, [A-Z_]+)*) = (\d+(?:, \d+)*)\n")


def unpacked(source: str) -> list[tuple[str, ...]]:
    """Return the names of all locals that are unpacked from keys or words."""
    return [tuple(re.split(r",\s*", names)) for names, _ in UNPACKED.findall(source)]


@pytest.mark.parametrize(
    ("script", "sides"),
    [
        (scripts.SUBMIT, (words.SubmitKeys, words.SubmitWords)),
        (scripts.COMMIT, (words.CommitKeys, words.CommitWords, words.CommitMatchKeys)),
        (scripts.ANCHOR_SEED_CHAIN, (words.AnchorKeys, words.AnchorWords)),
    ],
    ids=lambda one: one.name if isinstance(one, Script) else None,
)
def test_a_script_unpacks_keys_and_words_by_the_names_of_python(script: Script, sides) -> None:
    assert unpacked(script.source) == [side._fields for side in sides]


def test_the_counts_in_the_scripts_are_those_of_the_names() -> None:
    def numbers(script: Script) -> dict[str, int]:
        pairs = [
            pair
            for names, values in NUMBERS.findall(script.source)
            for pair in zip(names.split(", "), map(int, values.split(", ")), strict=True)
        ]
        return dict(pairs)

    commit = numbers(scripts.COMMIT)
    assert commit["FIELDS"] == len(words.CommitWords._fields)
    assert commit["SHARD_KEYS"] == len(words.CommitKeys._fields)
    assert commit["MATCH_KEYS"] == len(words.CommitMatchKeys._fields)


def test_the_head_of_the_commit_explains_each_word_by_its_name() -> None:
    _, described = scripts.COMMIT.source.split("-- The words of a command;")
    names = re.findall(r"^--   (\w+) +\S", described, re.MULTILINE)
    assert tuple(names) == words.CommitWords._fields


def test_the_words_are_where_the_script_looks_for_them() -> None:
    _, names, args = submit_call(4, submission(1), 5)
    sent = words.SubmitWords(*args)
    assert (sent.cap, sent.most_ahead) == (5, MOST_AHEAD_MS)
    assert words.SubmitKeys(*names).inbox.endswith(":in")
    _, names, args = commit_call(
        4, SHARD, [moved(InboxEntry(SHARD, "1-0", 1, "reply", b""), 1, 0, 2)], 0
    )
    count = len(words.CommitWords._fields)
    first = words.CommitWords(*args[3 : 3 + count])
    assert first.leaves == len(args) - 3 - count == 2
    assert len(names) == len(words.CommitKeys._fields) + len(words.CommitMatchKeys._fields)
