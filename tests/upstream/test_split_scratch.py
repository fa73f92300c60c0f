"""The acceptance suite on three versions of SGLang's real file, test by test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SUITE = Path(__file__).parent / "suites" / "split_scratch_suite.py"
TARGET = Path("sglang/kernels/ops/attention/flash_mla_sm120.py")

SHIPPED = "        with torch.inference_mode(False):\n            buf = torch.empty("
ZEROED = "        with torch.inference_mode(False):\n            buf = torch.zeros("
COMMENTED = (
    "        # The consumer gathers slot 0 for every padding index, so it must be finite.\n"
    + ZEROED
)

# As shipped / with zeros / with zeros and the comment. F fails, P passes.
EXPECTED = {
    "test_first_allocation_is_zeroed_and_registered": "FPP",
    "test_launch_binds_the_mask_and_a_slice_of_the_scratch": "PPP",
    "test_same_and_smaller_call_reuse_one_allocation": "PPP",
    "test_growth_allocates_zeros_again": "FPP",
    "test_each_device_gets_its_own_zeroed_scratch": "FPP",
    "test_mask_is_zeroed_on_every_call": "PPP",
    "test_pool_of_64_token_pages_needs_no_scratch": "PPP",
    "test_scratch_keeps_the_whole_contract": "FPP",
    "test_source_allocates_bytes_once_zeroed_and_says_why": "FFP",
}


def make_variant(sglang: Path, root: Path, replacement: str) -> Path:
    """Write the target below a root of its own, with the one place replaced."""
    text = (sglang / TARGET).read_text(encoding="utf-8")
    assert text.count(SHIPPED) == 1
    path = root / TARGET
    path.parent.mkdir(parents=True)
    path.write_text(text.replace(SHIPPED, replacement), encoding="utf-8")
    return root


@pytest.fixture(params=[SHIPPED, ZEROED, COMMENTED], ids=["shipped", "zeros", "commented"])
def variant(request, sglang, tmp_path):
    position = [SHIPPED, ZEROED, COMMENTED].index(request.param)
    return position, make_variant(sglang, tmp_path / "variant", request.param)


def run_suite(pytester, root, *arguments):
    copy = Path(shutil.copy(SUITE, pytester.path / "test_suite.py"))
    return pytester.runpytest_inprocess(
        "-p", "sm120", "-p", "no:randomly", f"--sm120-root={root}", *arguments, str(copy)
    )


def outcomes(result) -> dict[str, str]:
    reports = result.reprec.getreports("pytest_runtest_logreport")
    return {
        report.nodeid.rpartition("::")[2]: "P" if report.passed else "F"
        for report in reports
        if report.when == "call"
    }


def test_each_test_has_the_outcome_that_the_variant_deserves(pytester, variant):
    position, root = variant
    result = run_suite(pytester, root)
    expected = {name: outcome[position] for name, outcome in EXPECTED.items()}
    assert outcomes(result) == expected


ALLOCATES = (
    'flash_mla_sm120.py:511: _split_kv_pages_to_64 allocates "flash_mla_sm120_split:cuda:0" with '
    "torch.empty"
)
REMEDY = (
    "the contract asks for zeros. Rows that a launch skips keep what the allocator recycled. "
    "Allocate with torch.zeros."
)
MEMSET = "one memset of 585 KiB (599,040 bytes) per (re)allocation, at size 4."
COST = f"Cost of the initial value: {MEMSET}"


def broken_contract(hazard: str) -> list[str]:
    """The lines that a failing run shows of the broken contract, without pytest's margin."""
    return [
        'The contract for "flash_mla_sm120_split:{device}" is broken in 2 of 15 clauses.',
        f"1. initial value: {ALLOCATES}; {REMEDY}",
        f"2. growth initial value: {ALLOCATES} when it grows to 1.14 MiB; {REMEDY}",
        f"Hazard: {hazard}",
        COST,
    ]


@pytest.mark.parametrize(
    ("pin", "hazard"),
    [
        (
            "flashinfer-python==0.6.18",
            "live: flashinfer-python 0.6.18 is in force (sm120_versions), and the contract names "
            "flashinfer-python<=0.6.18 as affected.",
        ),
        (
            "flashinfer-python==0.7.2",
            "latent: flashinfer-python 0.7.2 is in force (sm120_versions), which is outside "
            "<=0.6.18; the contract still asks for it, since another version of the consumer makes "
            "it live again.",
        ),
    ],
    ids=["live", "latent"],
)
def test_contract_of_the_shipped_file_says_what_to_do(pytester, sglang, tmp_path, pin, hazard):
    root = make_variant(sglang, tmp_path / "variant", SHIPPED)
    result = run_suite(pytester, root, "-k", "whole_contract", "-o", f"sm120_versions={pin}")
    margin = ("E       pytest_sm120.errors.ContractBroken: ", "E       ")
    shown = [line for line in result.outlines if line.startswith(margin)]
    texts = [line.removeprefix(margin[0]).removeprefix(margin[1]).strip() for line in shown]
    assert [text for text in texts if text] == broken_contract(hazard)
    title = '"flash_mla_sm120_split:{device}"'
    assert f"{title}: {COST}" in result.outlines


def test_each_failure_of_the_shipped_file_names_what_it_found(pytester, sglang, tmp_path):
    root = make_variant(sglang, tmp_path / "variant", SHIPPED)
    result = run_suite(pytester, root, "-k", "not whole_contract")
    reports = result.reprec.getreports("pytest_runtest_logreport")
    failures = [report for report in reports if report.failed]
    assert len(failures) == 4
    for report in failures:
        assert "'torch.empty' == 'torch.zeros'" in report.longreprtext
        assert "pytest_sm120/" not in report.longreprtext
