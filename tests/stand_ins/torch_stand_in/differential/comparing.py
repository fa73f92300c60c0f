"""Evaluates one expression in torch and in its stand-in, and says where they differ."""

from __future__ import annotations

import math
import operator
from contextvars import ContextVar
from typing import Any, NamedTuple

from pytest_sm120.errors import UnknownOperation, UnknownValue
from pytest_sm120.stand_ins.execution import Execution
from pytest_sm120.stand_ins.torch_stand_in import build_torch

from .inputs import Input


class Outcome(NamedTuple):
    """What one world made of an expression."""

    #: The tensor whose storage the input lies in, and the input.
    base: Any
    tensor: Any
    result: Any
    error: Exception | None


class Compared(NamedTuple):
    """How far the comparison of one expression came."""

    #: False when nothing could be compared: the stand-in refused to guess a value.
    done: bool
    #: Whether contents were compared too; None when there are none to compare.
    followed: bool | None


def no_ghost(name: str) -> Any:
    """Fail: what is compared is modelled."""
    raise AssertionError(f"the comparison asks for {name}, which the stand-in does not model")


def stand_in() -> Any:
    """Return a stand-in for torch, new and without state."""
    return build_torch(Execution(), no_ghost)["torch"]


def evaluate(world: Any, given: Input, expression: str, device: str) -> Outcome:
    """Evaluate ``expression`` on the input, with with three names in reach."""
    names = {"torch": world, "operator": operator, "device": device}
    names["b"] = base = eval(given.base, names)
    names["t"] = tensor = eval(given.layout, names)
    try:
        return Outcome(base, tensor, eval(expression, names), None)
    except Exception as error:  # any error is an outcome here
        return Outcome(base, tensor, None, error)


def compare(torch: Any, given: Input, expression: str) -> Compared:
    """Return how far the comparison came; AssertionError where the two differ.

    Errors are compared for tensors in host memory alone: on ``meta`` no kernel refuses a dtype.
    """
    ours = evaluate(stand_in(), given, expression, "cpu")
    if isinstance(ours.error, (UnknownOperation, UnknownValue)):
        return Compared(False, False)
    real = evaluate(torch, given, expression, "cpu")
    if is_particular_to_cpu(real, ours):
        return Compared(False, None)
    compare_errors(real.error, ours.error)
    if real.error is not None:
        return Compared(True, None)
    compare_results(real, ours, real.result, ours.result)
    compare_on_meta(torch, given, expression, real.result)
    followed = [
        compare_contents(real.base, ours.base),
        compare_contents_of_result(real.result, ours.result),
    ]
    return Compared(True, None if followed[1] is None else all(followed))


def compare_on_meta(torch: Any, given: Input, expression: str, in_memory: Any) -> None:
    """Compare what torch answers for shapes alone.

    Not where it has no answer, and not where dtype or strides of the answer are others than its
    kernels': the kernels' count.
    """
    real = evaluate(torch, given, expression, "meta")
    if real.error is None and form_of(real.result) == form_of(in_memory):
        ours = evaluate(stand_in(), given, expression, "meta")
        compare_errors(None, ours.error)
        compare_results(real, ours, real.result, ours.result)


def is_particular_to_cpu(real: Outcome, ours: Outcome) -> bool:
    """Return whether only torch's kernels for the CPU refuse this; those of a card do not."""
    words = ["ZeroDivisionError", "flip_cpu", "mul_cpu_reduced_float", "out of DATA bounds"]
    words.append("are out of bounds for storage of size")
    if any(word in str(real.error) for word in words):
        return True
    # Whether a kernel with nothing to do looks at the dtype differs between kernels.
    kinds = (type(real.error), type(ours.error))
    return real.tensor.numel() == 0 and NotImplementedError in kinds


def compare_errors(real: Exception | None, ours: Exception | None) -> None:
    """Fail unless both are None, or of one type."""
    if real is None and ours is not None:
        raise ours
    assert type(real) is type(ours), f"torch: {real!r}; stand-in: {ours!r}"


def compare_results(real: Outcome, ours: Outcome, theirs: Any, mine: Any) -> None:
    """Fail unless both results are alike in kind, geometry and memory."""
    if isinstance(theirs, (tuple, list)) and not hasattr(theirs, "numel"):
        assert isinstance(mine, (tuple, list)) and len(theirs) == len(mine), (theirs, mine)
        for one, other in zip(theirs, mine, strict=True):
            compare_results(real, ours, one, other)
    elif hasattr(theirs, "untyped_storage"):
        compare_tensors(real, ours, theirs, mine)
    elif isinstance(theirs, (float, complex, int)) and not isinstance(theirs, bool):
        alike = type(theirs) is type(mine) and same_number(theirs, mine, 0.0)
        assert alike, (theirs, mine)
    elif not hasattr(theirs, "data_ptr"):
        assert str(theirs) == str(mine), (theirs, mine)


def compare_tensors(real: Outcome, ours: Outcome, theirs: Any, mine: Any) -> None:
    """Fail unless both tensors have one geometry and share memory with the input alike."""
    assert geometry(theirs) == geometry(mine)
    assert (theirs is real.tensor) == (mine is ours.tensor), "one is the input itself"
    if theirs.numel():
        pairs = ((theirs, real.base), (mine, ours.base))
        shared = [same_storage(one, two) for one, two in pairs]
        assert shared[0] == shared[1], f"shares storage with the input: torch {shared[0]}"


def geometry(tensor: Any) -> dict[str, str]:
    """Return what must be equal; strides of a tensor without elements address nothing."""
    names = ("dtype", "shape", "device", "requires_grad", "is_leaf")
    found = {name: str(getattr(tensor, name)) for name in names}
    if tensor.numel():
        found |= {
            "strides": str(strides_that_address(tensor)),
            "offset": str(tensor.storage_offset()),
            "contiguous": str(tensor.is_contiguous()),
        }
    return found


def strides_that_address(tensor: Any) -> list[int]:
    """Return the strides; in einsum's results, those of more than one element.

    torch reshapes and permutes a product of matrices there, and what it leaves in dimensions of
    size 1 depends on the order of the sums.
    """
    loose = LOOSE_STRIDES.get()
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return [stride for size, stride in pairs if not loose or size > 1]


#: Whether strides of dimensions of size 1 are left out of the comparison.
LOOSE_STRIDES: ContextVar[bool] = ContextVar("LOOSE_STRIDES", default=False)


def form_of(result: Any) -> Any:
    """Return dtype and strides of the tensors of a result."""
    if isinstance(result, (tuple, list)) and not hasattr(result, "numel"):
        return [form_of(part) for part in result]
    return (result.dtype, result.stride()) if hasattr(result, "untyped_storage") else None


def same_storage(one: Any, two: Any) -> bool:
    """Return whether both lie in one storage; tensors on meta have no address to compare."""
    first, second = one.untyped_storage(), two.untyped_storage()
    if hasattr(first, "_cdata"):
        return bool(first._cdata == second._cdata)
    return bool(first.data_ptr() == second.data_ptr())


def compare_contents_of_result(real: Any, ours: Any) -> bool | None:
    """Return whether all contents are known; None when the result has none."""
    if isinstance(real, (tuple, list)) and not hasattr(real, "numel"):
        parts = [compare_contents_of_result(*pair) for pair in zip(real, ours, strict=True)]
        known = [part for part in parts if part is not None]
        return all(known) if known else None
    return compare_contents(real, ours) if hasattr(real, "untyped_storage") else None


def compare_contents(real: Any, ours: Any, steps: int = 1) -> bool:
    """Return whether the stand-in knows the contents; fail when it knows others.

    ``steps`` is how many operations they came out of, one after the other.
    """
    try:
        known = ours.tolist()
    except UnknownValue:
        return False
    expected = real.tolist()
    pairs = zip(flat(expected), flat(known), strict=True)
    allowed = steps * PRECISION.get(str(real.dtype).removeprefix("torch."), 0.0)
    alike = all(same_number(a, b, allowed) for a, b in pairs)
    assert alike, f"torch: {expected}; stand-in: {known}"
    return True


#: Relative error of two roundings in each format: twice its epsilon. Integers are exact.
PRECISION = {
    "float8_e5m2": 2 * 2**-2,
    "float8_e4m3fn": 2 * 2**-3,
    "bfloat16": 2 * 2**-7,
    "float16": 2 * 2**-10,
    "float32": 2 * 2**-23,
    "complex64": 2 * 2**-23,
    "float64": 2 * 2**-52,
}


def flat(values: Any) -> list[Any]:
    """Return the numbers of nested lists."""
    return [v for part in values for v in flat(part)] if isinstance(values, list) else [values]


def same_number(real: Any, ours: Any, allowed: float) -> bool:
    """Return whether two numbers are equal, but for a relative error."""
    if isinstance(real, complex) or isinstance(ours, complex):
        parts = ((real.real, ours.real), (real.imag, ours.imag))
        return all(same_number(*pair, allowed) for pair in parts)
    if isinstance(real, bool) or isinstance(ours, bool):
        return real is ours
    both_nan = real != real and ours != ours
    return real == ours or both_nan or math.isclose(real, ours, rel_tol=allowed, abs_tol=allowed)
