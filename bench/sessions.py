"""What the server does for one reader and for thirty, seen through websockets without a browser."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

import psutil

from bench.client import Reply, Session, run_apart, session
from bench.report import Row, of_samples
from bench.settings import EMPTY, Subject
from tests.serving import Server

READERS = 30


def resident(pid: int) -> float:
    """MB of memory that a process holds, libraries included: what a machine of its own would have to have."""
    return psutil.Process(pid).memory_info().rss / 2**20


def share(pid: int) -> float | None:
    """MB where every page is divided among the processes that use it (PSS); None where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def checked(reply: Reply) -> Reply:
    """The reply itself; raises RuntimeError if the page showed an exception instead of its content."""
    if reply.exceptions:
        raise RuntimeError(f"the page raised: {reply.exceptions[0]}")
    return reply


async def open_readers(stack: AsyncExitStack, server: Server, subject: Subject, count: int) -> list[Session]:
    """Sessions that have each seen the page once, opened one after the other."""
    readers = []
    for _ in range(count):
        reader = await stack.enter_async_context(session(server.url, subject.path, subject.query))
        checked(reader.first)
        readers.append(reader)
    return readers


async def reruns(server: Server, subject: Subject, moves: int) -> list[Reply]:
    """One reader moves the slider to and fro, a little apart as a hand does."""
    async with session(server.url, subject.path, subject.query) as reader:
        checked(reader.first)
        replies = []
        for number in range(moves + 3):
            replies.append(checked(await reader.move(subject.slider, 1 if number % 2 == 0 else -1)))
            await asyncio.sleep(0.03)
    return replies[3:]


async def crowd(server: Server, subject: Subject, rounds: int) -> tuple[list[float], float, float | None]:
    """Thirty readers move the slider at the same moment, some rounds; seconds of each, then memory with all of them."""
    async with AsyncExitStack() as stack:
        readers = await open_readers(stack, server, subject, READERS)
        seconds = []
        for number in range(rounds + 1):
            step = (
                number % 5 + 1
            )  # not the same value in every round, so that a cache does not answer for the code
            replies = await asyncio.gather(*(reader.move(subject.slider, step) for reader in readers))
            seconds += [checked(reply).seconds for reply in replies] if number else []
        pid = server.process.pid
        return seconds, resident(pid), share(pid)


def rerun_rows(server: Server, yardstick: Server, subject: Subject, moves: int = 40) -> list[Row]:
    """Server time and bytes of one move of the slider, beside the empty fragment."""
    ours = run_apart(reruns(server, subject, moves))
    floor = run_apart(reruns(yardstick, EMPTY, moves))
    return [
        of_samples(
            "rerun, as the server answers",
            [reply.seconds * 1000 for reply in ours],
            "ms",
            yardstick=median(reply.seconds for reply in floor) * 1000,
            yardstick_name="empty fragment",
        ),
        of_samples(
            "bytes of a rerun",
            [reply.bytes / 1000 for reply in ours],
            "kB",
            yardstick=median(reply.bytes for reply in floor) / 1000,
            yardstick_name="empty fragment",
        ),
    ]


def crowd_rows(server: Server, subject: Subject, rounds: int = 5) -> list[Row]:
    """(c) memory with thirty readers, and how long each waits when all move at once."""
    seconds, held, shared = run_apart(crowd(server, subject, rounds))
    ordered = sorted(seconds)
    rows = [
        of_samples(f"{READERS} readers move at once, each waits", seconds, "s", target=0.8),
        Row("  the slowest of twenty waits", ordered[int(len(ordered) * 0.95)], "s"),
        Row(f"memory with {READERS} readers", held, "MB", target=450.0),
    ]
    # Smaller while another process here has loaded the same libraries, as the yardstick's has: for information.
    return rows if shared is None else [*rows, Row("  its share while others run (PSS)", shared, "MB")]
