"""The line that is responsible for an event."""

from __future__ import annotations

import _thread
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from pytest_sm120.recorder.places import TARGET_MARK, find_place
from pytest_sm120.recorder.records import Place


def run_target(source: str, **names: Any) -> dict[str, Any]:
    """Run a text as a target whose ``here()`` is the place of the call."""
    namespace: dict[str, Any] = {TARGET_MARK: True, "here": find_place, **names}
    exec(compile(textwrap.dedent(source), "/a/target.py", "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    ("source", "line", "function"),
    [
        ("\nplace = here()\n", 2, "<module>"),
        ("def f():\n    return here()\nplace = f()\n", 2, "f"),
        ("def f():\n    return [here() for _ in range(1)][0]\nplace = f()\n", 2, "f"),
        ("def f():\n    return next(here() for _ in range(1))\nplace = f()\n", 2, "f"),
        ("def f():\n    return {0: here() for _ in range(1)}[0]\nplace = f()\n", 2, "f"),
        ("def f():\n    return {here() for _ in range(1)}.pop()\nplace = f()\n", 2, "f"),
        ("place = [here() for _ in range(1)][0]\n", 1, "<module>"),
        ("def f():\n    g = lambda: here()\n    return g()\nplace = f()\n", 2, "<lambda>"),
        ("class A:\n    def f(self): return here()\nplace = A().f()\n", 2, "f"),
        ("def f(**options):\n    return here(\n        **options\n    )\nplace = f()\n", 2, "f"),
        (
            "def f():\n    return max(\n        [here()],\n        [],\n    )[0]\nplace = f()\n",
            3,
            "f",
        ),
    ],
)
def test_place_is_the_innermost_line_of_a_target(source: str, line: int, function: str) -> None:
    assert run_target(source)["place"] == Place("/a/target.py", line, function)


def test_place_is_in_the_target_that_called_out() -> None:
    def outside(call: Callable[[], Place]) -> Place:
        return call()

    namespace = run_target("def f():\n    return out(here)\nplace = f()\n", out=outside)
    assert namespace["place"] == Place("/a/target.py", 2, "f")


def test_generator_run_by_another_file_is_a_function_of_its_own() -> None:
    namespace = run_target("def f():\n    return (here() for _ in range(1))\nmade = f()\n")
    [place] = list(namespace["made"])
    assert place == Place("/a/target.py", 2, "<genexpr>")


def test_place_without_a_target_is_the_innermost_line_outside_the_package() -> None:
    place = find_place()
    assert place.path == __file__
    assert place.function == "test_place_without_a_target_is_the_innermost_line_outside_the_package"
    assert place.line == sys._getframe().f_lineno - 3


def test_place_without_any_line_of_a_user_is_unknown() -> None:
    found: list[Place] = []
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        # Seen from a thread that runs a function of the package only.
        namespace: dict[str, Any] = {"find_place": find_place, "found": found, "done": done}
        code = compile(
            "def f():\n    found.append(find_place())\n    done.release()\n",
            find_place.__code__.co_filename,
            "exec",
        )
        exec(code, namespace)
        _thread.start_new_thread(namespace["f"], ())

    run()
    done.acquire()
    assert found == [Place("<unknown>", 0, "<unknown>")]
