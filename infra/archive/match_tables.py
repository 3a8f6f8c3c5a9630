"""Files of many matches: lines of JSON, compressed, and a table in Parquet, both written while matches come."""

import gzip
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, Final

import msgspec

ROWS_TOGETHER: Final = 10_000
"""Rows of a group of a table, which are in memory before they are written."""

_LEVEL: Final = 6


class JsonLines:
    """A file of lines of JSON, compressed by gzip; the same lines are the same bytes."""

    suffix = "ndjson.gz"

    def __init__(self) -> None:
        self._data = BytesIO()
        self._file = gzip.GzipFile("", "wb", _LEVEL, self._data, mtime=0)

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows."""
        self._file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)

    def finish(self) -> bytes:
        """Return the file."""
        self._file.close()
        return self._data.getvalue()


class ParquetTable:
    """A table in Parquet; ImportError without the package's group `parquet`."""

    suffix = "parquet"

    def __init__(self) -> None:
        # some 100 MB and half a second, for this alone
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415

        number, text = pa.int64(), pa.string()
        numbers, texts = pa.list_(number), pa.list_(text)
        self._schema = pa.schema(
            {
                "board": number, "rules": text, "options": texts, "accounts": texts, "started": number, "ended": number,
                "setup": text, "moves": text, "left": pa.list_(numbers), "winners": numbers, "reason": text,
                "rated": pa.bool_(), "tournament": number, "opening": number, "imported": pa.bool_(), "head": text,
            }
        )  # fmt: skip
        self._table: Any = pa.Table
        self._data = BytesIO()
        self._writer = parquet.ParquetWriter(self._data, self._schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows; a setup, which each game has of its own form, is JSON in a text."""
        for row in rows:
            setup = row["setup"]
            text = None if setup is None else msgspec.json.encode(setup).decode()
            self._rows.append({**row, "setup": text})
        if len(self._rows) >= ROWS_TOGETHER:
            self._flush()

    def finish(self) -> bytes:
        """Return the file."""
        self._flush()
        self._writer.close()
        return self._data.getvalue()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._table.from_pylist(self._rows, schema=self._schema))
        self._rows = []
