"""What the stand-in does not model is refused, and contents that it does not know stay unknown."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from pytest_sm120.errors import UnknownOperation, UnknownValue
from pytest_sm120.stand_ins.torch_stand_in import input_tensor

NOT_MODELLED = {
    "torch.zeros(..., out=...)": lambda torch: torch.zeros(2, out=torch.zeros(2)),
    "Tensor.type with a class or a name": lambda torch: torch.zeros(2).type("torch.IntTensor"),
    "torch.where with a condition only, whose result has a size that depends on the contents,": (
        lambda torch: torch.where(torch.zeros(2) > 0)
    ),
    "torch.einsum with an ellipsis or sublists": (
        lambda torch: torch.einsum("...i->i", torch.zeros(2))
    ),
    "torch.nn.functional.linear with a weight that is no matrix": (
        lambda torch: torch.nn.functional.linear(torch.zeros(2), torch.zeros(2))
    ),
    'torch.nn.functional.pad(..., mode="reflect")': (
        lambda torch: torch.nn.functional.pad(torch.zeros(2, 2), (1, 1), mode="reflect")
    ),
    "torch.index_put(..., accumulate=True)": (
        lambda torch: torch.zeros(2).index_put((torch.tensor([0]),), torch.ones(1), accumulate=True)
    ),
    "torch.unique(..., dim=...)": lambda torch: torch.zeros(2, 2).unique(dim=0),
    "torch.unique(..., return_inverse=True) of NaN": (
        lambda torch: torch.full((2,), torch.nan).unique(return_inverse=True)
    ),
    "torch.max(..., out=...) with these arguments": (
        lambda torch: torch.max(torch.zeros(2, 2), 0, out=(torch.zeros(2), torch.zeros(2)))
    ),
    "torch.add(..., out=...) with an out of another shape": (
        lambda torch: torch.add(torch.zeros(2), 1, out=torch.zeros(3))
    ),
    "torch.nn.Parameter(...) without a tensor": lambda torch: torch.nn.Parameter(),
    "torch.nn.Buffer(...) without a tensor": lambda torch: torch.nn.Buffer(),
    "torch.Tensor(...) as a constructor": lambda torch: torch.Tensor(2),
}


@pytest.mark.parametrize("name", NOT_MODELLED)
def test_operation_that_is_not_modelled_is_refused_by_name(torch, name):
    with pytest.raises(UnknownOperation) as caught:
        NOT_MODELLED[name](torch)
    assert caught.value.cause.endswith(f": {name} is not modelled.")
    assert caught.value.limit == (
        "The record tier models what host code around kernels uses; torch has more."
    )
    assert caught.value.remedy == (
        'Replace the function that calls it with provide=, or run the test with tier=["interpret"].'
    )


@pytest.fixture
def index(execution) -> Any:
    """An index of three rows that nobody knows."""
    return input_tensor(execution, (3,), "int64", "cpu")


def known(tensor: Any) -> Any:
    """Return the contents, None when they are unknown."""
    try:
        return tensor.tolist()
    except UnknownValue:
        return None


@pytest.mark.parametrize(
    ("pick", "contents"),
    [
        (lambda torch, index: torch.arange(4)[index], None),
        (lambda torch, index: torch.ones(4)[index], [1.0, 1.0, 1.0]),
        (lambda torch, index: torch.arange(4).index_select(0, index), None),
        (lambda torch, index: torch.ones(4).index_select(0, index), [1.0, 1.0, 1.0]),
        (lambda torch, index: torch.arange(4).gather(0, index), None),
        (lambda torch, index: torch.arange(4).scatter(0, index, 7), None),
        (lambda torch, index: torch.arange(4).scatter(0, torch.arange(3), index), None),
        (lambda torch, index: torch.arange(4).index_fill(0, index, 7), None),
        (lambda torch, index: index.index_fill(0, torch.tensor([0]), 7), None),
        (lambda torch, index: torch.zeros(3, 0).index_fill(0, index, 7), [[], [], []]),
        (lambda torch, index: torch.einsum("a,b->ab", index, torch.arange(2)), None),
        (
            lambda torch, index: torch.nn.functional.linear(
                index, torch.ones(2, 3).long(), index[:2]
            ),
            None,
        ),
        (
            lambda torch, index: torch.nn.functional.linear(
                torch.ones(1, 3).long(), torch.ones(2, 3).long(), index[:2]
            ),
            None,
        ),
        (lambda torch, index: torch.nn.functional.pad(index, (1, 0)), None),
        (lambda torch, index: index.sort().values, None),
        (lambda torch, index: index.cumsum(0), None),
        (lambda torch, index: index.diff(), None),
        (lambda torch, index: index.topk(1).values, None),
        (lambda torch, index: index.gather(0, torch.tensor([0])), None),
        (lambda torch, index: (index + 0.5).softmax(0), None),
        (lambda torch, index: torch.searchsorted(torch.arange(4), index), None),
        (lambda torch, index: torch.searchsorted(index, 3), None),
    ],
)
def test_result_of_an_unknown_index_is_known_only_where_every_index_gives_it(
    torch, index, pick, contents
):
    assert known(pick(torch, index)) == contents


def test_write_through_an_unknown_index_leaves_nothing_known(torch, index):
    tensor = torch.arange(4)
    tensor[index] = 7
    assert known(tensor) is None


@pytest.mark.parametrize(
    "compute",
    [
        lambda torch: torch.full((2,), float("nan")).to(torch.int32),
        lambda torch: torch.tensor([float("inf"), 1.0]).to(torch.int64),
        lambda torch: torch.arange(2) // 0,
        lambda torch: torch.arange(2) % 0,
        lambda torch: torch.arange(70000).add(1),
        lambda torch: torch.ones(3).topk(1).indices,
        lambda torch: torch.tensor([1.0, torch.nan]).topk(1).values,
        lambda torch: torch.arange(3).topk(2, sorted=False).values,
        lambda torch: torch.tensor([torch.inf, 0.0]).softmax(0),
        lambda torch: torch.ones(300, 300) @ torch.ones(300, 300),
        lambda torch: torch.ones(70000).scatter(0, torch.tensor([0]), 1),
        lambda torch: torch.zeros(70000).scatter(0, torch.tensor([0]), 1),
        lambda torch: torch.arange(70000) + torch.zeros(70000, dtype=torch.int64),
        lambda torch: torch.tensor([1j, 2]).logsumexp(0),
        lambda torch: torch.tensor([1j, 2]).exp(),
        lambda torch: torch.arange(300).expand(300, 300),
        lambda torch: torch.arange(300)[:, None] + torch.arange(300),
        lambda torch: torch.tensor([float("nan"), 1.0]).sum(dtype=torch.int32),
    ],
)
def test_number_that_is_not_followed_is_unknown(torch, compute):
    assert known(compute(torch)) is None


def test_float4_is_not_promoted(torch):
    with pytest.raises(RuntimeError) as caught:
        torch.promote_types(torch.float4_e2m1fn_x2, torch.float32)
    assert str(caught.value) == (
        "Promotion for Float4 Types is not supported, attempted to promote Float4_e2m1fn_x2 and"
        " Float"
    )


@pytest.mark.parametrize("dim", ["x", True, 0.5, None])
def test_dimension_that_is_no_whole_number_is_refused(torch, dim):
    with pytest.raises(TypeError) as caught:
        torch.zeros(2).unsqueeze(dim)
    assert str(caught.value) == f"argument 'dim' must be int, not {type(dim).__name__}"


@pytest.mark.parametrize("asked", ["torch.Tensor.add(tensor, 1)", "tensor.add(1)", "tensor + 1"])
def test_operation_is_found_by_the_first_code_that_asks(asked):
    code = (
        "from pytest_sm120.stand_ins.execution import Execution\n"
        "from pytest_sm120.stand_ins.torch_stand_in import build_torch\n"
        "torch = build_torch(Execution(), str)['torch']\n"
        "tensor = torch.zeros(2)\n"
        f"print(({asked}).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.0, 1.0]\n"


def test_attribute_that_the_class_tensor_has_not_raises_attribute_error(torch):
    with pytest.raises(AttributeError) as caught:
        torch.Tensor.no_such_method  # noqa: B018  # the access is what is tested
    assert str(caught.value) == "type object 'Tensor' has no attribute 'no_such_method'"


@pytest.mark.parametrize(
    ("ask", "asked_by"),
    [
        (lambda torch, unknown: unknown.nonzero(), "Tensor.nonzero"),
        (lambda torch, unknown: torch.nonzero(unknown), "torch.nonzero"),
        (lambda torch, unknown: unknown.unique(), "torch.unique"),
        (lambda torch, unknown: unknown.equal(torch.arange(3)), "Tensor.equal"),
        (lambda torch, unknown: torch.arange(3).masked_select(unknown > 0), "torch.masked_select"),
    ],
)
def test_result_that_depends_on_unknown_contents_is_refused(torch, index, ask, asked_by):
    with pytest.raises(UnknownValue) as caught:
        ask(torch, index)
    tensor = "bool[3]" if "masked" in asked_by else "int64[3]"
    assert caught.value.cause.partition(": ")[2] == (
        f"{asked_by} needs the contents of a tensor ({tensor} on cpu), which are not known."
    )


def test_elements_of_an_unknown_tensor_are_selected_without_being_known(torch, index):
    assert known(index.masked_select(torch.tensor([True, False, True]))) is None


def test_assertion_about_an_unknown_tensor_holds(torch, index):
    assert torch._assert_async(index[0]) is None
