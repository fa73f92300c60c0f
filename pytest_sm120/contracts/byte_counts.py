"""Byte counts for people."""

from __future__ import annotations

_UNITS = ("KiB", "MiB", "GiB", "TiB")


def bytes_in_words(count: int) -> str:
    """Return a byte count with three digits in binary units, e.g. ``"1.14 GiB"``."""
    if count < 1024:
        return f"{count} byte" if count == 1 else f"{count} bytes"
    size, power = float(count), 0
    # From here on three digits would read 1024 of the smaller unit.
    while size >= 1023.5 and power < len(_UNITS):
        size, power = size / 1024, power + 1
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{size:.{digits}f} {_UNITS[power - 1]}"
