"""Keys of buffers: what a contract names, and whether a buffer was seen at that place."""

from __future__ import annotations

from collections.abc import Callable

from pytest_sm120.errors import UsageError
from pytest_sm120.recorder.reachable import plain_key

#: A template such as ``"split:{device}"``, or a function of the device's name.
Key = str | Callable[[str], object]


def key_on(key: Key, device: str, where: str) -> object:
    """Return a contract's key on this device, as plain data.

    Raises UsageError, which names the field ``where``, when the key's function raises.
    """
    if isinstance(key, str):
        return key.replace("{device}", device)
    try:
        return plain_key(key(device))
    except Exception as error:
        raise UsageError(
            f"{where} raised {describe(error)} for the device {device!r}.",
            limit="A key function takes the device's name and returns the key.",
            remedy='Write it as in key=lambda device: ("workspace", device).',
        ) from error


def describe(error: BaseException) -> str:
    """Return ``"TypeError: text"``, or the type alone when the error has no text; no full stop."""
    text = str(error).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def show_key(key: object) -> str:
    """Return a key as messages spell it: text in double quotes, anything else as Python does."""
    return f'"{key}"' if isinstance(key, str) else repr(key)


def refuse_unknown_key(key: object, where: str) -> None:
    """Raise UsageError, which names the field ``where``, for what is no key."""
    if not (callable(key) or (isinstance(key, str) and key)):
        raise UsageError(
            f"{where[:-1]}{key!r}) is neither a text nor a function.",
            limit='A key is a template such as "split:{device}", or a function of the device.',
            remedy='For other keys write a function, e.g. key=lambda device: ("ws", device).',
        )


def rank_of_key(seen: object, wanted: object) -> int | None:
    """Return how well a seen key fits the wanted one: 0 exactly, 1 as part of a path, None not.

    What a module global or a watched object holds is seen as a path, e.g.
    ``"_cache[('ws', 'cuda:0')]"``. It fits the wanted key ``("ws", "cuda:0")``, and so does
    ``"ws:cuda:0[1]"`` the key ``"ws:cuda:0"``: a tuple is kept there, with the buffer inside.
    """
    seen, wanted = plain_key(seen), plain_key(wanted)
    if seen == wanted:
        return 0
    path = str(seen)
    spelled = [f"[{wanted!r}]"]
    if isinstance(wanted, str):
        spelled.append(f".{wanted}")
    inside = any(_holds_part(path, part) for part in spelled)
    return 1 if inside or _begins_with(path, str(wanted)) else None


def _holds_part(path: str, part: str) -> bool:
    return any(_begins_with(path[at:], part) for at in range(len(path)) if path[at] == part[0])


def _begins_with(path: str, part: str) -> bool:
    rest = path[len(part) :]
    return path.startswith(part) and (not rest or rest[0] in ".[")
