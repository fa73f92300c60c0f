from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sm120.source import SourceView

View = Callable[[str], SourceView]


def comment(view: SourceView) -> str:
    [call] = view.allocations()
    return call.comment


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# why\nx = torch.empty(4)", id="above"),
        pytest.param("    # why\nx = torch.empty(4)", id="above and deeper"),
        pytest.param("x = torch.empty(4)  # why", id="trailing"),
        pytest.param("x = torch.empty(\n    # why\n    4,\n)", id="own line inside the call"),
        pytest.param("x = torch.empty(\n    4,  # why\n)", id="trailing inside the call"),
        pytest.param("x = torch.empty(\n    4,\n)  # why", id="behind the last line"),
        pytest.param("x = (\n    # why\n    torch.empty(4)\n)", id="inside the statement"),
        pytest.param("x = torch.empty(4)  #why", id="no blank"),
        pytest.param("x = torch.empty(4)  # why  ", id="blanks at the end"),
        pytest.param("x = 1  # other\n# why\ny = torch.empty(4)", id="below a trailing one"),
        pytest.param("# other\n\n# why\nx = torch.empty(4)", id="below a blank line"),
        pytest.param("if torch.empty(4):  # why\n    x = 1  # other", id="header"),
        pytest.param("if x:\n    pass  # other\n# why\nelif torch.empty(4):\n    pass", id="elif"),
        pytest.param("# why\n@f(torch.empty(4))\n# other\ndef g(): pass", id="decorator"),
        pytest.param("x = 1; y = torch.empty(4)  # why", id="semicolon"),
        pytest.param("x = '# other', torch.empty(4)  # why", id="string"),
        pytest.param("x = f'{1}# other', torch.empty(4)  # why", id="f-string"),
        pytest.param("if y:\n    x = 1\n    # other\n# why\nz = torch.empty(4)", id="dedent"),
        pytest.param(
            "if y:\n    x = 1\n    # other\nz = torch.empty(4)  # why", id="end of the last block"
        ),
        pytest.param("if y:\n# other\n    z = torch.empty(4)  # why", id="shallower"),
        pytest.param("# why\nwith a:\n    x = torch.empty(4)", id="above with"),
        pytest.param("with a:  # why\n    x = torch.empty(4)", id="trailing with"),
        pytest.param("with (\n    a,  # why\n):\n    x = torch.empty(4)", id="inside with"),
        pytest.param("with a:\n    # why\n    x = torch.empty(4)", id="first in with"),
        pytest.param("# why\nwith a:\n    with b:\n        x = torch.empty(4)", id="two withs"),
        pytest.param(
            "with a:\n    # why\n    with b:\n        x = torch.empty(4)", id="inner with"
        ),
        pytest.param("with a: x = torch.empty(4)  # why", id="with on one line"),
        pytest.param(
            "async def f():\n    # why\n    async with a:\n        x = torch.empty(4)", id="async"
        ),
        pytest.param("# other\nwith a:\n    b = 1\n    x = torch.empty(4)  # why", id="second"),
        pytest.param("# other\nif a:\n    x = torch.empty(4)  # why", id="not a with"),
    ],
)
def test_comment_of_the_statement_is_found_and_no_other(view: View, text: str) -> None:
    assert comment(view(text)) == "why"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = torch.empty(4)\n", id="none at all"),
        pytest.param("# other\n\nx = torch.empty(4)", id="blank line between"),
        pytest.param("# other\n\x0c\nx = torch.empty(4)", id="form feed between"),
        pytest.param("x = torch.empty(4)\n# other", id="below"),
        pytest.param("x = torch.empty(4)\ny = 1  # other", id="trailing the next"),
        pytest.param("y = 1  # other\nx = torch.empty(4)", id="trailing the previous"),
        pytest.param("# other\ny = 1\nx = torch.empty(4)", id="above the previous"),
        pytest.param("x = torch.empty(4), '# other'", id="string"),
        pytest.param("x = torch.empty(4), '''\n# other\n'''", id="long string"),
        pytest.param("'''\n# other'''\nx = torch.empty(4)", id="string above"),
        pytest.param("if torch.empty(4):\n    # other\n    x = 1", id="in the block"),
        pytest.param("with a:\n    x = torch.empty(4)\n    # other\n    y = 1", id="next in with"),
        pytest.param("# other\n\nwith a:\n    x = torch.empty(4)", id="blank line above with"),
    ],
)
def test_comment_of_a_neighbour_is_left_out(view: View, text: str) -> None:
    assert comment(view(text)) == ""


def test_lines_of_all_comments_are_joined_in_text_order(view: View) -> None:
    found = view("""
        # one
        #  two
        with a:  # three
            # four
            x = torch.empty(  # five
                4,  # six
            )  # seven
        """)
    assert comment(found) == "one\n two\nthree\nfour\nfive\nsix\nseven"


#: Place of the one comment -> whether it belongs to the allocation, given whether the
#: allocation is the first statement of its `with` blocks.
BELONGS: dict[str, Callable[[bool], bool]] = {
    "above": lambda first: True,
    "trailing": lambda first: True,
    "inside": lambda first: True,
    "last line": lambda first: True,
    "above with": lambda first: first,
    "trailing with": lambda first: first,
    "apart": lambda first: False,
    "string": lambda first: False,
    "below": lambda first: False,
    "trailing next": lambda first: False,
}


def program(place: str, withs: int, first: bool, which_with: int, in_function: bool) -> str:
    """One allocation inside ``withs`` blocks and one comment, ``# slot 0``, at ``place``."""

    def mark(here: str, text: str = "  # slot 0") -> str:
        return text if place == here else ""

    lines = ["def f():"] if in_function else ["import torch"]
    depth = int(in_function)
    lines += ["    " * depth + "before = 1", ""]
    for level in range(withs):
        chosen = level == which_with
        indent = "    " * depth
        if chosen and place == "above with":
            lines.append(f"{indent}# slot 0")
        lines.append(f"{indent}with a:" + (mark("trailing with") if chosen else ""))
        depth += 1
    indent = "    " * depth
    lines += [] if first else [f"{indent}previous = 1"]
    lines += [f"{indent}# slot 0"] if place in ("above", "apart") else []
    lines += [""] if place == "apart" else []
    lines += [
        f"{indent}x = torch.empty(" + mark("inside"),
        f"{indent}    4, {mark('string', repr('# slot 0'))}",
        f"{indent})" + mark("last line"),
    ]
    if place == "trailing":
        lines[-3:] = [f"{indent}x = torch.empty(4)  # slot 0"]
    lines += [f"{indent}# slot 0"] if place == "below" else []
    lines += [f"{indent}following = 1" + mark("trailing next")]
    return "\n".join(lines) + "\n"


@given(
    place=st.sampled_from(sorted(BELONGS)),
    withs=st.integers(1, 3),
    first=st.booleans(),
    which_with=st.integers(0, 2),
    in_function=st.booleans(),
)
def test_comment_is_found_exactly_where_it_belongs(
    view: View, place: str, withs: int, first: bool, which_with: int, in_function: bool
) -> None:
    text = program(place, withs, first, which_with % withs, in_function)
    assert ("slot 0" in comment(view(text))) is BELONGS[place](first), text


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])))
def test_comment_text_is_kept_as_written(view: View, text: str) -> None:
    assert comment(view(f"x = torch.empty(4)  # {text}|")) == f"{text}|"
