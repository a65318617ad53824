"""A Streamlit browser without the browser: one websocket that opens a page and moves its widgets.

Streamlit speaks protobuf over /_stcore/stream: the client sends a BackMsg with its whole state (page, link, widgets),
the server answers with ForwardMsgs and ends a run with `script_finished`. Thirty of these cost a few megabytes, where
thirty browser tabs would cost gigabytes; what the server does for each is the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

T = TypeVar("T")
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass(frozen=True)
class Reply:
    """What one run of the script answered."""

    seconds: float  # from sending to `script_finished`
    bytes: int  # of all messages on the wire
    messages: int
    exceptions: tuple[str, ...]  # texts of st.exception elements and of uncaught exceptions


@dataclass
class Slider:
    """A slider as the server described it."""

    id: str
    fragment: str
    low: float
    high: float
    step: float
    value: float


@dataclass
class Session:
    """One reader. Use `async with session(url, "attention", "lang=en") as reader:`."""

    socket: ClientConnection
    url: str
    path: str
    query: str
    first: Reply | None = None
    sliders: dict[str, Slider] = field(default_factory=dict)  # by label
    _moved: dict[str, WidgetState] = field(default_factory=dict)
    _known: list[str] = field(default_factory=list)  # hashes of large messages that need not be sent again

    async def run(self, fragment: str = "", *, patience: float = 60.0) -> Reply:
        """Ask for a run of the page, or of one fragment, and read until it has finished."""
        request = BackMsg()
        state = request.rerun_script
        state.page_name, state.query_string, state.fragment_id = self.path, self.query, fragment
        state.widget_states.widgets.extend(self._moved.values())
        state.cached_message_hashes.extend(self._known)
        state.context_info.url = f"{self.url}/{self.path}"
        state.context_info.locale = "en-US"
        state.context_info.timezone = "UTC"
        started = time.perf_counter()
        await self.socket.send(request.SerializeToString())
        async with asyncio.timeout(patience):
            return await self._read(started)

    async def _read(self, started: float) -> Reply:
        size, count, exceptions = 0, 0, []
        while True:
            data = await self.socket.recv()
            size, count = size + len(data), count + 1
            message = ForwardMsg.FromString(data)
            kind = message.WhichOneof("type")
            if kind == "delta":
                self._learn(message, exceptions)
            if kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
                exceptions.append(message.session_event.script_compilation_exception.message)
            if kind == "script_finished" and message.script_finished in FINISHED:
                return Reply(time.perf_counter() - started, size, count, tuple(exceptions))

    def _learn(self, message: ForwardMsg, exceptions: list[str]) -> None:
        if message.metadata.cacheable and message.hash not in self._known:
            self._known.append(message.hash)
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            exceptions.append(element.exception.message or element.exception.type)
        if kind == "slider":
            s = element.slider
            value = s.value[0] if s.set_value else s.default[0]
            self.sliders[s.label] = Slider(s.id, message.delta.fragment_id, s.min, s.max, s.step, value)

    async def move(self, label: str, steps: int = 1) -> Reply:
        """Move the slider with that label by some steps (to the other direction at an end) and run what belongs to it.

        Raises KeyError, naming the sliders that exist, when there is none with that label.
        """
        if label not in self.sliders:
            raise KeyError(f"no slider {label!r}; there are {sorted(self.sliders)}")
        slider = self.sliders[label]
        target = slider.value + steps * slider.step
        if not slider.low <= target <= slider.high:
            target = slider.value - steps * slider.step
        slider.value = target
        state = WidgetState(id=slider.id)
        state.double_array_value.data.append(target)
        self._moved[slider.id] = state
        reply = await self.run(slider.fragment)
        # The server sends the slider again with its first default; what counts is where we have put it.
        self.sliders[label].value = target
        return reply


@asynccontextmanager
async def session(url: str, path: str = "", query: str = "") -> AsyncIterator[Session]:
    """Connect, run the page once, and hand out the session; the connection is closed at the end."""
    host = urlsplit(url).netloc
    async with connect(
        f"ws://{host}/_stcore/stream", subprotocols=["streamlit"], max_size=None, compression=None
    ) as socket:
        reader = Session(socket, url, path.strip("/"), query)
        reader.first = await reader.run()
        yield reader


def run_apart(work: Coroutine[None, None, T]) -> T:
    """asyncio.run in a thread of its own: Playwright keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
