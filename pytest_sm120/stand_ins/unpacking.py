"""How many names an unpacking assignment has, read off the code that is running."""

from __future__ import annotations

import opcode
from types import FrameType

_UNPACK = opcode.opmap["UNPACK_SEQUENCE"]


def names_unpacked_to(frame: FrameType) -> int | None:
    """Return how many names ``a, b = value`` has when this frame is at such an assignment.

    None at any other iteration, starred assignments included. The number stands in the code, so
    that answering with as many items assumes nothing.
    """
    code, position = frame.f_code.co_code, frame.f_lasti
    return code[position + 1] if position >= 0 and code[position] == _UNPACK else None
