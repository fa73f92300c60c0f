from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_sm120.source import SourceView

View = Callable[[str], SourceView]


def calls(view: SourceView) -> list[str]:
    return [call.call for call in view.allocations()]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.empty(4)",
        "import torch as th\nth.empty(4)",
        "import torch.nn\ntorch.empty(4)",
        "from torch import empty\nempty(4)",
        "from torch import empty as E\nE(4)",
        "import torch\nalloc = torch.empty\nalloc(4)",
        "import torch\nalloc: object = torch.empty\nalloc(4)",
        "import torch\nalloc = make = torch.empty\nmake(4)",
        "import torch\nagain = alloc = torch.empty\nlast = again\nlast(4)",
        "import torch\ndef f():\n    alloc = torch.empty\n    alloc(4)",
        "import torch\ndef f():\n    t = torch\n    t.empty(4)",
        "def f():\n    import torch as th\n    th.empty(4)",
        "import torch\ndef f():\n    alloc(4)\nalloc = torch.empty",
        "import torch\ngetattr(torch, 'empty')(4)",
        "import torch\nalloc = getattr(torch, 'empty')\nalloc(4)",
        "import torch\n(alloc := torch.empty)(4)",
        "import torch\n[(alloc := torch.empty) for _ in x]\nalloc(4)",
        "import torch\ndef f():\n    global alloc\n    alloc = torch.empty\nalloc(4)",
        "import torch\ndef f():\n    global alloc\n    alloc(4)\nalloc = torch.empty",
        "import torch\ndef f():\n  a = None\n  def g():\n    nonlocal a\n    a = torch.empty\n"
        "    a(4)\n",
        "import torch\ndef f():\n  a = None\n  def g():\n    def h():\n      nonlocal a\n"
        "      a = torch.empty\n  a(4)",
        "import torch\nalloc = torch.empty\ndef f(alloc):\n  def g():\n    global alloc\n"
        "    alloc(4)",
        "try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.empty(4)",
        "try:\n    import torch\nexcept ImportError:\n    torch = stub()\ntorch.empty(4)",
        "alloc = None\nimport torch\nalloc = torch.empty\nalloc(4)",
        "import importlib\ntorch = importlib.import_module('torch')\ntorch.empty(4)",
        "torch = __import__('torch')\ntorch.empty(4)",
        "torch.empty(4)",
        "import torch\nclass A:\n    alloc = torch.empty\n    x = alloc(4)",
        "import torch\nx = [torch.empty(4) for y in z]",
        "import torch\ndef f(self):\n    self.x: object = torch.empty(4)",
        "import torch\nx = lambda n=torch.empty(4): n",
        "import torch\n@register(torch.empty(4))\ndef f(): pass",
        "import torch\ndef f(torch=torch.empty(4)): pass",
    ],
)
def test_alias_is_followed(view: View, text: str) -> None:
    assert calls(view(text)) == ["torch.empty"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import torch\ndef f(torch):\n    torch.empty(4)", id="parameter"),
        pytest.param("import torch\ndef f(*torch):\n    torch.empty(4)", id="star parameter"),
        pytest.param("import torch\ndef f(**torch):\n    torch.empty(4)", id="keywords"),
        pytest.param("import torch\ndef f(*, torch):\n    torch.empty(4)", id="keyword only"),
        pytest.param("import torch\ndef f(torch, /):\n    torch.empty(4)", id="positional only"),
        pytest.param("import torch\nlambda torch: torch.empty(4)", id="lambda"),
        pytest.param("import torch\n[torch.empty(4) for torch in x]", id="comprehension"),
        pytest.param("import torch\ndef f():\n    torch = stub()\n    torch.empty(4)", id="local"),
        pytest.param(
            "import torch\ndef f():\n  for torch in x:\n    torch.empty(4)", id="loop variable"
        ),
        pytest.param(
            "import torch\ndef f():\n  with x as torch:\n    torch.empty(4)", id="with target"
        ),
        pytest.param(
            "import torch\ndef f():\n  try: pass\n  except E as torch:\n    torch.empty(4)",
            id="exception",
        ),
        pytest.param(
            "import torch\ndef f():\n  match x:\n    case [*torch]:\n      torch.empty(4)",
            id="star pattern",
        ),
        pytest.param(
            "import torch\ndef f():\n  match x:\n    case {**torch}:\n      torch.empty(4)",
            id="mapping pattern",
        ),
        pytest.param("import torch\ndef f():\n  class torch: pass\n  torch.empty(4)", id="class"),
        pytest.param("import stub as torch\ntorch.empty(4)", id="another import"),
        pytest.param("from stub import empty\nempty(4)", id="another module"),
        pytest.param("from . import torch\ntorch.empty(4)", id="relative import"),
        pytest.param("def empty(n): pass\nempty(4)", id="own function"),
        pytest.param("import torch\ndef f(alloc):\n    alloc(4)\nalloc = torch.empty", id="seen"),
        pytest.param("import torch\na = torch.empty\na = pool()\na(4)", id="bound twice"),
        pytest.param("import torch\na = torch.empty\na += 1\na(4)", id="augmented"),
        pytest.param("import torch\na, b = torch.empty, 1\na(4)", id="unpacked"),
        pytest.param("a = b\nb = a\na(4)", id="circle"),
        pytest.param(
            "import torch\nclass A:\n  a = torch.empty\n  def f(s): a(4)", id="class body"
        ),
        pytest.param("import torch\ngetattr(torch, name)(4)", id="getattr by name"),
        pytest.param("import torch\ngetattr(torch)(4)", id="getattr of nothing"),
        pytest.param(
            "import torch\ndef getattr(a, b): pass\ngetattr(torch, 'empty')(4)", id="own getattr"
        ),
        pytest.param("import torch\ntorch.empty", id="no call"),
        pytest.param("import torch\nfuncs = [torch.empty]\nfuncs[0](4)", id="item"),
        pytest.param("import torch\ndef f(a):\n    a: int\n    a(4)\na = torch.empty", id="typed"),
        pytest.param("import importlib\nt = importlib.import_module(n)\nt.empty(4)", id="by name"),
    ],
)
def test_name_that_is_not_torch_is_left_out(view: View, text: str) -> None:
    assert calls(view(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nalloc = torch.empty if x else torch.zeros\nalloc(4)",
        "import torch\n(torch.empty if x else torch.zeros)(4)",
        "import torch\nalloc = torch.empty or torch.zeros\nalloc(4)",
        "import torch\nif x:\n    alloc = torch.empty\nelse:\n    alloc = torch.zeros\nalloc(4)",
        "try:\n    from torch import empty as a\nexcept E:\n    from torch import zeros as a\na(4)",
    ],
)
def test_choice_of_allocations_names_each_in_text_order(view: View, text: str) -> None:
    assert calls(view(text)) == ["torch.empty | torch.zeros"]


def test_choice_with_something_unknown_keeps_its_text(view: View) -> None:
    text = "import torch\ndef f(pool):\n    alloc = pool.get if pool else torch.empty\n    alloc(4)"
    assert calls(view(text)) == ["pool.get | torch.empty"]


def test_choice_of_the_same_thing_is_no_choice(view: View) -> None:
    text = "import torch, torch as th\nalloc = torch.empty if x else th.empty\nalloc(4)"
    assert calls(view(text)) == ["torch.empty"]


def test_choice_of_receivers_is_one_method(view: View) -> None:
    assert calls(view("(a if x else b).new_empty(4)")) == ["Tensor.new_empty"]


def test_method_spellings_and_aliases_are_all_found(view: View) -> None:
    found = view("""
        import torch, torch as th
        from torch import empty as E
        alloc = torch.empty
        a = torch.empty(4); b = th.empty_like(a); c = E(4)
        d = a.new_empty(4); e = alloc(4); f = getattr(torch, "empty")(4); g = torch.Tensor(4)
        h = torch.zeros(4)
        """)
    assert calls(found) == [
        "torch.empty",
        "torch.empty_like",
        "torch.empty",
        "Tensor.new_empty",
        "torch.empty",
        "torch.empty",
        "torch.Tensor",
        "torch.zeros",
    ]
