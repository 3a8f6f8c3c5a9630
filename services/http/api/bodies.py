"""Request bodies: their media types, and strict decoding.

Requests that are one command in a match: what they have in common, from the token to the answer.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Final, TypeAlias

import msgspec
import msgspec.inspect
from litestar import Request
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, QueryParameter

from domain.errors import Code, Refusal
from services.app.context import Actor, App
from services.app.play import WAIT_SECONDS, Course, Result
from services.http.api.auth import Own
from services.http.context import ApiContext

MAX_BODY_BYTES: Final = 65_536
"""The maximum length of a body, in bytes."""

JSON: Final = "application/json"
TEXT: Final = "text/plain"
FORM_TYPE: Final = "application/x-www-form-urlencoded"


class RequestBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of request bodies; unknown fields are refused."""


class WrongMediaTypeError(Exception):
    """The body has a media type that is not accepted; the message is a sentence."""


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON is decoded straight into the type that its route declares.

    The framework itself would convert numbers to text and text to numbers.
    """

    async def json(self) -> Any:
        """Return the body as its route's type; `bad-request` if it does not fit."""
        check_media_type(self, JSON, needed=self.auth is None)
        wanted = self.route_handler.parsed_fn_signature.parameters["data"].annotation
        try:
            return _decoder(wanted).decode(await self.body())
        except RecursionError:
            raise Refusal(Code.BAD_REQUEST, "in the body: it is nested too deep") from None
        except UnicodeDecodeError:
            raise Refusal(Code.BAD_REQUEST, "in the body: it is not valid UTF-8") from None
        except msgspec.DecodeError as error:
            said = with_choices(str(error), wanted)
            raise Refusal(Code.BAD_REQUEST, f"in the body: {said}") from None


def check_media_type(request: Request[Any, Any, Any], kind: str, *, needed: bool = False) -> None:
    """Refuse a body of another media type; a body without one is accepted unless one is `needed`.

    Any site can have a browser send a body without one, so it has to come with a token.
    """
    header = request.headers.get("content-type", "")
    media_type = header.partition(";")[0].strip().lower()
    if needed and not media_type:
        raise WrongMediaTypeError(f"the body has no media type; send it as {kind}")
    if media_type not in ("", kind):
        raise WrongMediaTypeError(f"the body is {media_type[:60]}; send it as {kind}")


def lower_first(message: str) -> str:
    """Return a library's message as the middle of a sentence."""
    return message if message[1:2].isupper() else f"{message[:1].lower()}{message[1:]}"


def with_choices(message: str, wanted: Any) -> str:
    """Return a library's message about a value as the middle of a sentence, with the values that there are."""
    message = lower_first(message)
    if not message.startswith(("invalid enum value", "invalid value")):
        return message
    place = message.partition("`$")[2].rstrip("`")
    choices = _choices(msgspec.inspect.type_info(wanted), re.findall(r"\.\w+|\[", place))
    return f"{message}; it is one of {', '.join(map(str, choices))}" if choices else message


def _choices(kind: msgspec.inspect.Type | None, steps: Sequence[str]) -> list[Any]:
    """Return the values that there are at a place in a type; none if these can't be listed."""
    if isinstance(kind, msgspec.inspect.UnionType):
        found = [value for one in kind.types for value in _choices(one, steps)]
        return found or sorted(filter(None, (getattr(one, "tag", None) for one in kind.types)))
    if isinstance(kind, msgspec.inspect.EnumType):
        return [one.value for one in kind.cls]
    if not steps:
        return list(getattr(kind, "values", ()))
    fields = {f".{one.encode_name}": one.type for one in getattr(kind, "fields", ())}
    inner = fields.get(steps[0], getattr(kind, "item_type", None))
    return _choices(inner, steps[1:]) if inner else []


@cache
def _decoder(wanted: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(wanted)


MOST_WAIT: Final = 60.0

Wait = Annotated[
    float,
    QueryParameter(
        ge=0,
        le=MOST_WAIT,
        description="seconds to wait for the outcome; after that the answer is 202",
    ),
]
Key = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="a request repeated with its key is carried out once, and gets the same answer "
        "each time; a request without a key gets a random one",
    ),
]


class CommandSender(msgspec.Struct, frozen=True):
    """A player who sends a command, and how many seconds the request waits for the outcome."""

    context: ApiContext
    actor: Actor
    wait: float

    @property
    def app(self) -> App:
        """The context of the use cases."""
        return self.context.app

    async def submit(self, asked: Course[Result]) -> Result:
        """Run a course, and return its result, with a receipt if that is an outcome."""
        return await self.context.play.submit(asked, self.wait, receipt=True)


Sender: TypeAlias = NamedDependency[CommandSender]
"""The type of a function's parameter `sender`; its route needs the scope `play`."""


def sender(own: Own, key: Key = None, wait: Wait = WAIT_SECONDS) -> CommandSender:
    """Return the sender of a command, for functions that take it as a parameter."""
    return CommandSender(own.context, own.actor(key), wait)
