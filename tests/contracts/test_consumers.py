"""The version in force decides whether a hazard is live; pins go before what is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

from pytest_sm120.contracts.consumers import check_pins, judge_hazard
from pytest_sm120.errors import UsageError

CONSUMER = "flashinfer-python<=0.6.18"


def test_hazard_is_live_when_the_pinned_version_is_affected():
    hazard = judge_hazard(CONSUMER, ["torch==2.13.0", "FlashInfer_Python == 0.6.18"])
    assert hazard.state == "live"
    assert hazard.explanation == (
        "live: flashinfer-python 0.6.18 is in force (sm120_versions), and the contract names"
        " flashinfer-python<=0.6.18 as affected."
    )


@pytest.mark.parametrize("version", ["0.7.2", "0.7.2.post1", "0.6.19rc1"])
def test_hazard_is_latent_when_the_pinned_version_is_not_affected(version):
    hazard = judge_hazard(CONSUMER, [f"flashinfer-python=={version}"])
    assert hazard.state == "latent"
    assert hazard.explanation == (
        f"latent: flashinfer-python {version} is in force (sm120_versions), which is outside"
        " <=0.6.18; the contract still asks for it, since another version of the consumer makes it"
        " live again."
    )


def test_hazard_is_live_when_the_pinned_version_is_a_pre_release_that_is_affected():
    assert judge_hazard(CONSUMER, ["flashinfer-python==0.6.18rc1"]).state == "live"


def test_hazard_is_unknown_and_taken_as_live_when_no_version_is_known():
    hazard = judge_hazard("no-such-consumer<=1")
    assert hazard.state == "unknown"
    assert hazard.explanation == (
        "unknown version, taken as live: sm120_versions does not pin no-such-consumer, and it is"
        " not installed."
    )


def test_installed_version_decides_when_none_is_pinned():
    version = metadata.version("pytest")
    assert judge_hazard("pytest>=8").explanation == (
        f"live: pytest {version} is in force (installed), and the contract names pytest>=8 as"
        " affected."
    )


def test_pin_goes_before_the_installed_version():
    assert judge_hazard("pytest>=8", ["pytest==7.0"]).state == "latent"


@pytest.mark.parametrize(
    "pin", ["flashinfer-python", "flashinfer-python>=1", "x==1,==2", "x==1.*", "x 1", ""]
)
def test_entry_that_pins_no_version_is_refused(pin):
    with pytest.raises(UsageError) as caught:
        judge_hazard(CONSUMER, [pin])
    assert str(caught.value) == (
        f"The entry {pin!r} of sm120_versions does not pin a version. Each line pins one"
        " distribution to one version. Write e.g. flashinfer-python==0.6.18."
    )


def test_plain_consumer_and_pin_are_accepted_without_importing_packaging():
    code = (
        "import sys\n"
        "from pytest_sm120.contracts.consumers import check_consumer, check_pins\n"
        "check_consumer('flashinfer-python<=0.6.18')\n"
        "check_pins(['flashinfer-python==0.6.18'])\n"
        "sys.exit('packaging' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("pin", ["flashinfer-python", "flashinfer-python==0.6.*", "a<=1"])
def test_bad_pin_is_refused_when_nothing_is_broken(pin):
    with pytest.raises(UsageError, match="does not pin a version"):
        check_pins([pin])
