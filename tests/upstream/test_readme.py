"""What the README shows is what the real file gives."""

from __future__ import annotations

from pathlib import Path

from tests.upstream.test_split_scratch import (
    COMMENTED,
    SHIPPED,
    make_variant,
    outcomes,
    run_suite,
)

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the README's code blocks of a language."""
    parts = README.split(f"```{language}\n")[1:]
    return [part.partition("\n```")[0] for part in parts]


def test_broken_contract_prints_as_the_readme_shows(pytester, sglang, tmp_path):
    root = make_variant(sglang, tmp_path / "variant", SHIPPED)
    result = run_suite(pytester, root, "-k", "whole_contract")
    shown = [line.rstrip() for line in blocks("")[0].splitlines() if line.startswith("E")]
    assert len(shown) == 8
    assert [line.rstrip() for line in result.outlines if line.startswith("E")][:8] == shown


def test_first_test_of_the_readme_passes_on_the_fixed_file(pytester, sglang, tmp_path):
    root = make_variant(sglang, tmp_path / "variant", COMMENTED)
    path = pytester.makepyfile(blocks("python")[0])
    result = pytester.runpytest_inprocess("-p", "sm120", f"--sm120-root={root}", str(path))
    assert outcomes(result) == {"test_first_call": "P"}
