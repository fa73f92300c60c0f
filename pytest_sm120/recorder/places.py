"""Finds the line of the user's code that is responsible for an event."""

from __future__ import annotations

import os
import sys
from types import FrameType

from pytest_sm120.recorder.records import Place

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

#: Set in the globals of every module that was loaded as a target.
TARGET_MARK = "__sm120_target__"

# Frames of their own (the first three until Python 3.12); the user thinks of the function around.
_INLINED = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


def find_place() -> Place:
    """Return the innermost line of a target, else the innermost line outside this package."""
    frame: FrameType | None = sys._getframe(1)
    outside: FrameType | None = None
    while frame is not None:
        if TARGET_MARK in frame.f_globals:
            return _place_of(frame)
        if outside is None and not frame.f_code.co_filename.startswith(_OWN_FOLDER):
            outside = frame
        frame = frame.f_back
    return _place_of(outside) if outside is not None else Place("<unknown>", 0, "<unknown>")


def _place_of(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, _function_name(frame))


def _function_name(frame: FrameType) -> str:
    name = frame.f_code.co_name
    while name in _INLINED and frame.f_back is not None:
        if frame.f_back.f_code.co_filename != frame.f_code.co_filename:
            break
        frame = frame.f_back
        name = frame.f_code.co_name
    return name
