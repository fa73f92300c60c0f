from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_sm120.errors import UsageError
from pytest_sm120.source import SourceCall, SourceView

View = Callable[[str], SourceView]


def only(found: list[SourceCall]) -> SourceCall:
    [call] = found
    return call


def test_allocation_is_recorded_in_full(view: View) -> None:
    found = view("""
        import torch

        class Runner:
            def prepare(self, pages, **options):
                # slot 0 is read
                self.out = torch.zeros(
                    *pages, 37440, dtype=torch.uint8, device="cuda", **options
                )
        """)
    assert found.allocations() == [
        SourceCall(
            call="torch.zeros",
            dtype="uint8",
            line=7,
            column=19,
            function="prepare",
            qualified_function="Runner.prepare",
            comment="slot 0 is read",
            site="target.py:7",
            text="torch.zeros(\n"
            '            *pages, 37440, dtype=torch.uint8, device="cuda", **options\n'
            "        )",
            arguments=("*pages", "37440", "**options"),
            keywords={"dtype": "torch.uint8", "device": '"cuda"'},
        )
    ]


def test_record_can_be_put_in_a_set(view: View) -> None:
    found = view("torch.zeros(4, device='cpu')")
    assert len({*found.allocations(), *found.allocations()}) == 1


@pytest.mark.parametrize(
    "name",
    [
        "empty",
        "zeros",
        "ones",
        "full",
        "empty_strided",
        "empty_permuted",
        "empty_like",
        "zeros_like",
        "ones_like",
        "full_like",
        "rand",
        "randn",
        "randint",
        "randperm",
        "rand_like",
        "randn_like",
        "randint_like",
        "arange",
        "eye",
        "linspace",
        "logspace",
        "tensor",
        "Tensor",
        "FloatTensor",
        "LongTensor",
        "cuda.ByteTensor",
    ],
)
def test_function_that_allocates_is_found(view: View, name: str) -> None:
    assert only(view(f"import torch\ntorch.{name}(4)").allocations()).call == f"torch.{name}"


@pytest.mark.parametrize("receiver", ["x", "self.buf", "x[0]", "f(x)", "(x + y)", "torch.Tensor"])
@pytest.mark.parametrize("name", ["new_empty", "new_zeros", "new_ones", "new_full", "new_tensor"])
def test_method_that_allocates_is_found_on_any_receiver(
    view: View, receiver: str, name: str
) -> None:
    assert only(view(f"{receiver}.{name}(4)").allocations()).call == f"Tensor.{name}"


@pytest.mark.parametrize("text", ["torch.cat(x)", "x.empty(4)", "new_empty(4)", "np.zeros(4)"])
def test_other_call_is_left_out(view: View, text: str) -> None:
    assert view(f"import torch\nimport numpy as np\n{text}").allocations() == []


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("torch.uint8", "uint8"),
        ("th.uint8", "uint8"),
        ("u8", "uint8"),
        ("DT", "int8"),
        ("getattr(torch, 'uint8')", "uint8"),
        ("torch.half", "float16"),
        ("torch.float", "float32"),
        ("torch.double", "float64"),
        ("torch.short", "int16"),
        ("torch.int", "int32"),
        ("torch.long", "int64"),
        ("torch.cfloat", "complex64"),
        ("torch.bool", "bool"),
        ("torch.bfloat16", "bfloat16"),
        ("torch.float8_e4m3fn", "float8_e4m3fn"),
        ("torch.float8_e8m0fnu", "float8_e8m0fnu"),
        ("torch.float4_e2m1fn_x2", "float4_e2m1fn_x2"),
        ("bool", "bool"),
        ("int", "int64"),
        ("float", "float64"),
        ("torch.uint8 if x else th.uint8", "uint8"),
        ("torch.uint8 if x else torch.int8", None),
        ("x.dtype", None),
        ("unknown", None),
        ("parameter", None),
        ("torch.get_default_dtype()", None),
        ("torch.strided", None),
        ("np.uint8", None),
        ("None", None),
    ],
)
def test_dtype_argument_is_resolved(view: View, dtype: str, expected: str | None) -> None:
    found = view(f"""
        import numpy as np
        import torch, torch as th
        from torch import uint8 as u8
        DT = torch.int8
        def f(parameter=torch.uint8):
            return torch.empty(4, dtype={dtype})
        """)
    assert only(found.allocations()).dtype == expected


def test_dtype_bound_in_the_function_is_resolved(view: View) -> None:
    found = view("import torch\ndef f():\n    dt = torch.uint8\n    torch.empty(4, dtype=dt)")
    assert only(found.allocations()).dtype == "uint8"


def test_dtype_is_unknown_when_a_parameter_shadows_torch(view: View) -> None:
    found = view("import torch\ndef f(torch, x):\n    x.new_empty(4, dtype=torch.uint8)")
    assert only(found.allocations()).dtype is None


def test_dtype_is_unknown_when_its_name_is_bound_twice(view: View) -> None:
    found = view("import torch\ndt = torch.uint8\ndt = torch.int8\ntorch.empty(4, dtype=dt)")
    assert only(found.allocations()).dtype is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.empty(4)", None),
        ("torch.randint(0, 4, (8,))", "int64"),
        ("torch.randint(0, 4, (8,), dtype=None)", "int64"),
        ("torch.randint(0, 4, (8,), **options)", None),
        ("torch.randint(0, 4, (8,), dtype=torch.int32)", "int32"),
        ("torch.LongTensor(4)", "int64"),
        ("torch.cuda.ByteTensor(4)", "uint8"),
        ("torch.Tensor(4)", None),
        ("(torch.IntTensor if x else torch.LongTensor)(4)", None),
    ],
)
def test_dtype_without_an_argument_is_what_torch_documents(
    view: View, call: str, expected: str | None
) -> None:
    assert only(view(f"import torch\n{call}").allocations()).dtype == expected


TWO_OF_EACH = """
    import torch
    a = torch.empty(1, dtype=torch.uint8)
    b = torch.zeros(2, dtype=torch.uint8)
    c = torch.zeros(3, dtype=torch.half)
    d = a.new_zeros(4)
    e = (torch.zeros if x else torch.empty)(5)
    """


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (None, "12345"),
        ("torch.zeros", "235"),
        ("zeros", "235"),
        ("torch.empty", "15"),
        ("new_zeros", "4"),
        ("Tensor.new_zeros", "4"),
        ("torch.ones", ""),
    ],
)
def test_call_filter_keeps_a_whole_name_or_a_last_part(
    view: View, call: str | None, arguments: str
) -> None:
    found = view(TWO_OF_EACH).allocations(call=call)
    assert "".join(one.arguments[0] for one in found) == arguments


@pytest.mark.parametrize(
    ("dtype", "arguments"),
    [("uint8", "12"), ("torch.uint8", "12"), ("float16", "3"), ("half", "3"), ("int8", "")],
)
def test_dtype_filter_keeps_that_dtype(view: View, dtype: str, arguments: str) -> None:
    found = view(TWO_OF_EACH).allocations(dtype=dtype)
    assert "".join(one.arguments[0] for one in found) == arguments


def test_filters_combine(view: View) -> None:
    found = view(TWO_OF_EACH).allocations(call="zeros", dtype="uint8")
    assert only(found).arguments == ("2",)


def test_unknown_call_filter_is_an_error_with_the_closest(view: View) -> None:
    with pytest.raises(UsageError) as caught:
        view("x = 1").allocations(call="torch.zero")
    assert str(caught.value) == (
        "allocations(call='torch.zero') asks for a call that allocates no tensor. "
        'An allocation is named like "torch.zeros", "zeros" or "Tensor.new_empty". '
        "The closest are zeros, new_zeros. "
        "Correct the name, or ask for any other call by calls(name)."
    )


def test_unknown_call_filter_is_an_error_when_nothing_is_close(view: View) -> None:
    with pytest.raises(UsageError) as caught:
        view("x = 1").allocations(call="qqq")
    assert str(caught.value) == (
        "allocations(call='qqq') asks for a call that allocates no tensor. "
        'An allocation is named like "torch.zeros", "zeros" or "Tensor.new_empty". '
        "Correct the name, or ask for any other call by calls(name)."
    )


def test_unknown_dtype_filter_is_an_error(view: View) -> None:
    with pytest.raises(UsageError) as caught:
        view("x = 1").allocations(dtype="unit8")
    assert str(caught.value) == (
        "allocations(dtype='unit8') asks for a dtype that torch does not have. "
        'A dtype is named without its module, for example "uint8" or "float8_e4m3fn". '
        "Correct the name; a query that can match nothing would pass any test."
    )
