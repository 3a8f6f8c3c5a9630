"""Answers that need not be sent again: entity tags, and what is asked with them."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

from litestar import Request, Response

Content = TypeVar("Content")

REVALIDATE: Final = "no-cache"
"""It may be kept, and is asked for again each time: with its tag that costs next to nothing."""

_NOT_MODIFIED: Final = 304


class Tag:
    """The tag of an answer, made of all that the answer depends on; `parts` tell those apart."""

    def __init__(self, *parts: object) -> None:
        self.text = f'"{sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:32]}"'

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of an answer that may be kept."""
        return {"ETag": self.text, "Cache-Control": REVALIDATE}

    def is_known(self, request: Request[Any, Any, Any]) -> bool:
        """Whether who asks has this answer already."""
        known = ",".join(request.headers.getall("if-none-match", []))
        tags = [tag.strip().removeprefix("W/") for tag in known.split(",")]
        return self.text in tags or "*" in tags

    def unchanged(self) -> Response[Any]:
        """Say that the answer is the one that is there."""
        return Response(b"", status_code=_NOT_MODIFIED, headers=self.headers)
