from types import SimpleNamespace

import pytest


@pytest.fixture
def sm120_provide(sm120):
    """What every target that the tests of this folder load gets instead of the real thing."""
    resources = SimpleNamespace(buffers=sm120.registry())
    return {"minikernels.runtime.context.get_resources": lambda: resources}
