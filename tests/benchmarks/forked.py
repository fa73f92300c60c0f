"""Does each piece of work in a process of its own, a few at a time."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from selectors import EVENT_READ, DefaultSelector
from typing import NamedTuple, TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: No file takes a tenth of this; one that hangs must not hold up the others.
LIMIT_SECONDS = 120.0


class _Child(NamedTuple):
    process: int
    pipe: int
    item: object
    started: float
    received: bytearray


def for_each(
    items: Sequence[T], work: Callable[[T], R], failed: Callable[[T, str], R], processes: int
) -> Iterator[R]:
    """Yield what ``work`` returns for each item, in the order in which they are done.

    Each item gets a forked process. ``failed`` makes the result of a process that died, from the
    item and what is known of its end.
    """
    waiting = iter(items)
    selector = DefaultSelector()
    running = 0
    while True:
        while running < processes:
            item = next(waiting, None)
            if item is None:
                break
            child = _start(item, work)
            selector.register(child.pipe, EVENT_READ, child)
            running += 1
        if not running:
            return
        for key, _ in selector.select(timeout=1.0):
            child = key.data
            part = os.read(child.pipe, 1 << 16)
            child.received.extend(part)
            if not part:
                selector.unregister(child.pipe)
                running -= 1
                yield _result(child, failed)
        _end_late(key.data for key in selector.get_map().values())


def _start(item: object, work: Callable[..., object]) -> _Child:
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _work(item, work, writing)
    os.close(writing)
    return _Child(process, reading, item, time.monotonic(), bytearray())


def _work(item: object, work: Callable[..., object], writing: int) -> None:
    status = 1
    try:
        # What a target prints is no part of the table.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        errors = os.dup(2)
        os.dup2(nowhere, 2)
        try:
            answer = pickle.dumps(work(item))
        except BaseException:
            import traceback

            os.write(errors, traceback.format_exc().encode())
            raise
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        status = 0
    finally:
        # Not sys.exit: neither handlers of the parent nor those of a target are to run.
        os._exit(status)


def _result(child: _Child, failed: Callable[..., R]) -> R:
    os.close(child.pipe)
    _, status = os.waitpid(child.process, 0)
    if status == 0 and child.received:
        answer: R = pickle.loads(bytes(child.received))
        return answer
    return failed(child.item, f"the process ended with status {os.waitstatus_to_exitcode(status)}")


def _end_late(children: Iterable[_Child]) -> None:
    for child in children:
        if time.monotonic() - child.started > LIMIT_SECONDS:
            os.kill(child.process, signal.SIGKILL)
