"""The contract of the object store, for files, for S3 (moto's server), and the stand-in of tests."""

import errno
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from infra.log.log_writer import LogWriter
from infra.log.names import LogSecret, shard_key
from infra.log.published_log import PublishedLog
from infra.objects import port
from infra.objects.cloud import CloudObjects
from infra.objects.files import FileObjects
from infra.objects.location import check_store_url
from infra.objects.port import ObjectStore
from tests.fakes.memory_store import MemoryObjects
from tests.helpers.s3 import BUCKET, misbehaving_server, s3_environment, s3_server

BIG = bytes(range(256)) * 4_000
NO_NAMES = [
    *("", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/..", ".", ".a", "a/.b", "a b", "a\n", "ä"),
    *("a/\0", "%2e%2e/a", "a\\b", "a" * 201),
]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture(params=["memory", "files", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "memory":
        return MemoryObjects()
    if request.param == "files":
        return FileObjects(tmp_path / "log")
    use_s3(request.getfixturevalue("monkeypatch"), request.getfixturevalue("s3"))
    return CloudObjects(f"s3://{BUCKET}/{uuid4().hex}")


def use_s3(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    for name, value in s3_environment(endpoint).items():
        monkeypatch.setenv(name, value)


def acts(objects: ObjectStore, name: str) -> list[Callable[[], object]]:
    """Everything that can be asked of a store about an object."""
    return [
        lambda: objects.get(name),
        lambda: objects.get_range(name, 0, 1),
        lambda: objects.create(name, b"1"),
        lambda: objects.replace(name, b"1", None),
        lambda: objects.delete(name),
        lambda: objects.names(name),
    ]


def test_an_object_is_read_as_it_was_written_whole_or_in_part_until_it_is_deleted(objects):
    objects.create("s07/tile/0/x001/067.p/12", BIG)
    objects.create("s07/tile/0/x001/067", b"")
    assert objects.get("s07/tile/0/x001/067.p/12") == BIG
    assert objects.get("s07/tile/0/x001/067") == b""
    objects.create("a", b"0123456789")
    ranges = [objects.get_range("a", *span) for span in ((2, 3), (8, 100), (100, 5))]
    assert ranges == [b"234", b"89", b""]
    for gone in ("a", "a", "other/folder/b"):
        objects.delete(gone)
    for read in (lambda: objects.get("a"), lambda: objects.get_range("a", 0, 3)):
        with pytest.raises(port.ObjectNotFoundError, match="a does not exist"):
            read()
    with pytest.raises(port.ObjectNotFoundError):
        objects.get("s07")
    objects.create("a", b"two")


def test_what_is_created_stays_and_what_is_replaced_must_be_what_the_writer_has_seen(objects):
    for _ in range(2):
        objects.create("a/b", b"one")
    with pytest.raises(port.ObjectDiffersError, match="a/b exists with other bytes"):
        objects.create("a/b", b"two")
    assert objects.get("a/b") == b"one"
    with pytest.raises(port.ObjectChangedError):
        objects.replace("checkpoint", b"one", b"zero")
    objects.replace("checkpoint", b"one", None)
    for before in (None, b"zero"):
        with pytest.raises(port.ObjectChangedError, match="checkpoint has been changed by another"):
            objects.replace("checkpoint", b"two", before)
    assert objects.get("checkpoint") == b"one"
    for _ in range(2):  # it may be repeated
        objects.replace("checkpoint", b"two", b"one")
    assert objects.get("checkpoint") == b"two"


@pytest.mark.parametrize("begun", [False, True])
def test_of_many_writers_that_have_seen_the_same_one_writes(objects, begun):
    if begun:
        objects.replace("a/b", b"start", None)

    def write(number: int) -> bool:
        try:
            if begun:
                objects.replace("a/b", b"%d" % number, b"start")
            else:
                objects.create("a/b", b"%d" % number)
        except (port.ObjectChangedError, port.ObjectDiffersError):
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(write, range(24)))
    assert done.count(True) == 1
    assert objects.get("a/b") == b"%d" % done.index(True)


def test_no_name_leaves_the_store(objects):
    for name in NO_NAMES:
        for act in acts(objects, name):
            with pytest.raises(ValueError, match="an object can't have the name"):
                act()


def test_a_log_is_published_and_read_back(objects):
    secret = LogSecret("play.example.org/log", bytes(32))
    leaves = [b"leaf %d" % index for index in range(600)]
    for end in (200, 255, 600):
        writer = LogWriter(objects, 7, [secret.signer(7)])
        writer.load()
        writer.append(leaves[writer.size : end])
    log = PublishedLog(objects, 7, [shard_key(secret.public, 7)])
    assert list(log.leaves(0, log.refresh())) == leaves
    assert objects.names("s07/tile/0/000.p") == []


def test_a_full_disk_or_a_killed_writer_leaves_no_object_behind(tmp_path, monkeypatch):
    objects = FileObjects(tmp_path)
    objects.replace("a/checkpoint", b"old", None)

    def full(descriptor: int) -> None:
        del descriptor
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        for act in (
            lambda: objects.create("a/b", b"one"),
            lambda: objects.replace("a/checkpoint", b"new", b"old"),
        ):
            with pytest.raises(port.ObjectStoreError, match="No space left"):
                act()
    assert [file.name for file in (tmp_path / "a").iterdir()] == ["checkpoint"]
    assert objects.get("a/checkpoint") == b"old"
    objects.create("a/b", b"one")
    (tmp_path / "a" / ".0123").write_bytes(b"half")
    assert sorted(objects.names("a")) == ["a/b", "a/checkpoint"]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(port.ObjectStoreError, match="file"):
        FileObjects(tmp_path / "file").create("a/b", b"one")


def test_files_are_for_their_user_only_and_each_new_folder_is_synced(tmp_path, monkeypatch):
    synced: list[str] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        file = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append(f"{file}".removeprefix(str(tmp_path)))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    FileObjects(tmp_path / "log").create("a/b/c", b"one")
    assert [one for one in synced if "." not in one] == ["", "/log", "/log/a", "/log/a/b"]
    # the file itself before its name is there
    assert synced[-2].startswith("/log/a/b/.")
    modes = [(tmp_path / "log" / name).stat().st_mode & 0o777 for name in (".", "a", "a/b/c")]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize(
    "url", ["", "log", "/log", "file://host/log", "file:log", "s3://", "http://x/y", "s3://b/a b"]
)
def test_other_urls_are_refused(url):
    with pytest.raises(ValueError, match=r"a file:// URL has|an object store is file:///"):
        check_store_url(url)


def all_fail(objects: ObjectStore) -> None:
    for act in acts(objects, "a"):
        with pytest.raises(port.ObjectStoreError) as raised:
            act()
        assert not isinstance(raised.value, port.ObjectNotFoundError)
        assert "\n" not in str(raised.value)


def test_a_server_that_refuses_hangs_or_is_gone_or_has_no_such_bucket_is_an_error(monkeypatch, s3):
    use_s3(monkeypatch, s3)
    objects = CloudObjects("s3://no-such-bucket/x", retry_seconds=0.1)
    for act in acts(objects, "a")[2:4]:
        with pytest.raises(port.ObjectStoreError):
            act()
    for statuses, seconds in (([403], 1), ([503], 1), ([], 0.2)):
        with misbehaving_server(*statuses, silent=not statuses) as endpoint:
            use_s3(monkeypatch, endpoint)
            all_fail(CloudObjects(f"s3://{BUCKET}/x", answer_seconds=seconds, retry_seconds=0.1))
    use_s3(monkeypatch, "http://127.0.0.1:9")
    all_fail(CloudObjects(f"s3://{BUCKET}/x", answer_seconds=1, retry_seconds=0.1))
