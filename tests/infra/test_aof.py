"""The end of the append-only file: cut at the last whole command, and nowhere else."""

import io
import os
import random
from pathlib import Path

import pytest

from infra.valkey.aof import DamagedError, Repair, end_of_last_command, newest_log, repair_tail

SET = b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$9\r\nva\r\n*1\r\n$\r\n"
BARE = b"*1\r\n$4\r\nPING\r\n"
TIME = b"#TS:1700000000\r\n"
MULTI, EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"
WHOLE = TIME + SET + BARE + MULTI + SET + SET + EXEC


def files(folder: Path, data: bytes) -> Path:
    """The folder as a server leaves it, after one rewrite; gives the file that is written to."""
    inside = folder / "appendonlydir"
    inside.mkdir()
    (inside / "appendonly.aof.manifest").write_text(
        "file appendonly.aof.2.base.rdb seq 2 type b\n"
        "file appendonly.aof.9.incr.aof seq 9 type i\n"
        "file appendonly.aof.10.incr.aof seq 10 type i\n"
        "file appendonly.aof.1.incr.aof seq 1 type h\n"
    )
    (inside / "appendonly.aof.2.base.rdb").write_bytes(b"REDIS0011")
    log = inside / "appendonly.aof.10.incr.aof"
    log.write_bytes(data)
    return log


@pytest.mark.parametrize("data", [b"", SET, WHOLE, TIME, WHOLE + TIME])
def test_a_file_that_ends_well_is_left_alone(tmp_path: Path, data: bytes) -> None:
    log = files(tmp_path, data)
    assert repair_tail(tmp_path) is None
    assert log.read_bytes() == data
    assert len(list(log.parent.iterdir())) == 3


def test_without_files_there_is_nothing_to_mend(tmp_path: Path) -> None:
    assert repair_tail(tmp_path) is None
    (tmp_path / "appendonlydir").mkdir()
    (tmp_path / "appendonlydir" / "appendonly.aof.manifest").write_text(
        "file appendonly.aof.2.base.rdb seq 2 type b\n"
    )
    assert repair_tail(tmp_path) is None
    assert newest_log(tmp_path) is None


@pytest.mark.parametrize("length", range(1, len(SET)))
def test_a_command_that_stops_short_is_cut_off_and_kept(tmp_path: Path, length: int) -> None:
    log = files(tmp_path, WHOLE + SET[:length])
    mended = repair_tail(tmp_path)
    kept = log.with_name(f"{log.name}.cut-at-{len(WHOLE)}")
    assert mended == Repair(log, len(WHOLE), kept, length)
    assert log.read_bytes() == WHOLE
    assert kept.read_bytes() == SET[:length]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert repair_tail(tmp_path) is None


@pytest.mark.parametrize(
    "torn", [MULTI, MULTI + SET, MULTI + SET + SET[:20], MULTI + SET + EXEC[:9]]
)
def test_a_transaction_without_its_end_goes_as_a_whole(tmp_path: Path, torn: bytes) -> None:
    log = files(tmp_path, WHOLE + torn)
    assert repair_tail(tmp_path) is not None
    assert log.read_bytes() == WHOLE


@pytest.mark.parametrize("begun", [b"", SET[:13], MULTI + SET + SET[:17]])
def test_rubbish_at_the_end_is_cut_off_with_what_it_damaged(tmp_path: Path, begun: bytes) -> None:
    log = files(tmp_path, b"")
    chance = random.Random(7)
    for _ in range(100):
        noise = chance.randbytes(chance.randrange(1, 4096))
        log.write_bytes(WHOLE + begun + noise)
        assert repair_tail(tmp_path) is not None
        assert log.read_bytes() == WHOLE


@pytest.mark.parametrize("zeros", [1, 512, 4096])
def test_zeros_at_the_end_are_cut_off(tmp_path: Path, zeros: int) -> None:
    log = files(tmp_path, WHOLE + SET + bytes(zeros))
    assert repair_tail(tmp_path) is not None
    assert log.read_bytes() == WHOLE + SET


@pytest.mark.parametrize(
    "damaged",
    [
        WHOLE.replace(b"$9\r\nva", b"$8\r\nva", 1),
        WHOLE.replace(b"$9\r\nva", b"$99999999\r\nva", 1),
        WHOLE.replace(b"*3", b"*4", 1),
        WHOLE.replace(b"*3", b"+3", 1),
        SET + bytes(512) + SET,
        SET + bytes(512) + SET.replace(b"SET", b"set"),
    ],
)
def test_damage_before_whole_commands_is_refused_and_nothing_touched(
    tmp_path: Path, damaged: bytes
) -> None:
    log = files(tmp_path, damaged)
    with pytest.raises(DamagedError, match=r"damaged at byte \d+, and whole commands follow"):
        repair_tail(tmp_path)
    assert log.read_bytes() == damaged
    assert len(list(log.parent.iterdir())) == 3


def test_every_prefix_is_cut_at_a_border() -> None:
    borders = [0]
    for part in (TIME, SET, BARE, MULTI + SET + SET + EXEC):
        borders.append(borders[-1] + len(part))
    for length in range(len(WHOLE) + 1):
        assert end_of_last_command(io.BytesIO(WHOLE[:length])) == max(
            b for b in borders if b <= length
        )


def test_what_was_kept_before_is_not_lost_when_the_same_place_is_cut_again(tmp_path: Path) -> None:
    log = files(tmp_path, WHOLE + SET[:5])
    first = repair_tail(tmp_path)
    with log.open("ab") as file:
        file.write(SET[:9])
    second = repair_tail(tmp_path)
    assert first is not None
    assert second is not None
    assert first.kept_file.read_bytes() == SET[:5]
    assert second.kept_file.read_bytes() == SET[:9]
    assert os.fspath(second.kept_file).endswith(".2")
