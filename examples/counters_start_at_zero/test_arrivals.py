"""What a kernel counts on: zeros to start from, the strides of its input, its dtype.

``arrivals.py`` keeps the contract. Its broken twin is the same text with one word changed.
"""

from pathlib import Path

import pytest

from pytest_sm120 import KernelArguments
from pytest_sm120.errors import ContractBroken

HERE = Path(__file__).parent

COUNTERS = KernelArguments("_sum_kernel", zeroed=["counters_ptr"], self_resets=True)
SUMS = KernelArguments(
    "_sum_kernel",
    zeroed=["sums_ptr"],
    # Each row begins where the row before does, plus stride_row; its elements lie side by side.
    strides={"rows_ptr": ("stride_row", 1)},
    sizes={"columns": lambda given: given["rows_ptr"].shape[1]},
    dtypes={"rows_ptr": "float32"},
)


def drive(sm120, module):
    def sum_rows(rows, device):
        module.sum_rows(sm120.tensor((rows, 1000), dtype="float32", device=device))

    return sum_rows


@pytest.mark.parametrize("contract", [COUNTERS, SUMS], ids=["counters", "sums"])
def test_sums_are_given_what_the_kernel_counts_on(sm120, contract):
    sm120.check(contract, drive(sm120, sm120.load(HERE / "arrivals.py")))


@pytest.mark.parametrize(
    ("right", "wrong", "clause"),
    [
        ("sums = torch.zeros", "sums = torch.empty", "zeroed since the last writer"),
        ("rows, rows.stride(0),", "rows, rows.shape[1],", "strides"),
    ],
)
def test_broken_twin_is_told(sm120, tmp_path, right, wrong, clause):
    text = (HERE / "arrivals.py").read_text(encoding="utf-8")
    assert text.count(right) == 1
    twin = tmp_path / "arrivals.py"
    twin.write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(ContractBroken, match=rf"1\. {clause}: arrivals\.py:\d+: sum_rows launches"):
        sm120.check(SUMS, drive(sm120, sm120.load(twin)))
