"""An object store in a dict, which can fail at a chosen write."""

from infra.objects.port import (
    ObjectChangedError,
    ObjectDiffersError,
    ObjectNotFoundError,
    ObjectStoreError,
    check_name,
)


class MemoryObjects:
    """See `infra.objects.port.ObjectStore`."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}
        self.reads: list[str] = []
        self.writes_left: int | None = None
        """How many writes succeed before one fails; None for all."""

    def get(self, name: str) -> bytes:
        check_name(name)
        self.reads.append(name)
        if name not in self.found:
            raise ObjectNotFoundError(f"{name} does not exist")
        return self.found[name]

    def get_range(self, name: str, start: int, length: int) -> bytes:
        return self.get(name)[start : start + length]

    def create(self, name: str, data: bytes) -> None:
        check_name(name)
        self._write()
        if self.found.setdefault(name, data) != data:
            raise ObjectDiffersError(f"{name} exists with other bytes")

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:
        check_name(name)
        self._write()
        # one step, also for threads
        found = self.found.setdefault(name, data) if before is None else self.found.get(name)
        if before is None:
            if found != data:
                raise ObjectChangedError(f"{name} has been changed by another writer")
        elif found == before:
            self.found[name] = data
        elif found != data:
            raise ObjectChangedError(f"{name} has been changed by another writer")

    def delete(self, name: str) -> None:
        check_name(name)
        self._write()
        self.found.pop(name, None)

    def names(self, folder: str) -> list[str]:
        check_name(folder)
        return sorted(name for name in self.found if name.rpartition("/")[0] == folder)

    def _write(self) -> None:
        if self.writes_left == 0:
            raise ObjectStoreError("the store is away")
        if self.writes_left is not None:
            self.writes_left -= 1
