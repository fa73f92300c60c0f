"""Which dotted name a file has, and which files there are."""

from __future__ import annotations

from pathlib import Path
from types import CodeType

import pytest

from pytest_sm120.errors import TargetError, UsageError
from pytest_sm120.stand_ins.target_files import CompiledFiles, find_sibling, find_target


def write(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "path", "name"),
    [
        ((), "target.py", "target"),
        ((), "folder/deep/target.py", "folder.deep.target"),
        (("pkg/__init__.py",), "pkg/target.py", "pkg.target"),
        (("pkg/__init__.py",), "pkg/space/target.py", "pkg.space.target"),
        (("src/pkg/__init__.py",), "src/pkg/target.py", "pkg.target"),
        (("python/pkg/__init__.py", "python/pkg/a/__init__.py"), "python/pkg/a/t.py", "pkg.a.t"),
        (("space/pkg/__init__.py",), "space/pkg/target.py", "pkg.target"),
        ((), "pkg/__init__.py", "pkg"),
        (("pkg/__init__.py",), "pkg/sub/__init__.py", "pkg.sub"),
        (("__init__.py",), "target.py", "target"),
        ((), "odd-name.py", "odd-name"),
    ],
)
def test_name_starts_at_the_outermost_package_below_the_root(
    tmp_path: Path, files: tuple[str, ...], path: str, name: str
) -> None:
    write(tmp_path, path, *files)
    assert find_target(path, tmp_path).name == name
    assert find_target(tmp_path / path, tmp_path).name == name


def test_init_at_the_root_is_named_after_its_file(tmp_path: Path) -> None:
    write(tmp_path, "__init__.py")
    assert find_target("__init__.py", tmp_path).name == "__init__"


def test_file_outside_the_root_is_named_by_its_packages(tmp_path: Path) -> None:
    write(tmp_path, "other/a/b/target.py", "other/a/__init__.py", "other/a/b/__init__.py")
    found = find_target("../other/a/b/target.py", tmp_path / "root")
    assert (found.name, found.base) == ("a.b.target", tmp_path / "other")
    assert found.package == "a.b"


def test_name_that_is_given_is_taken(tmp_path: Path) -> None:
    write(tmp_path, "target.py")
    found = find_target("target.py", tmp_path, "real.dotted.name")
    assert (found.name, found.package) == ("real.dotted.name", "real.dotted")


def test_sibling_is_a_package_before_it_is_a_module(tmp_path: Path) -> None:
    write(tmp_path, "a/b.py", "a/b/__init__.py", "a/c.py")
    package, module = find_sibling("a.b", tmp_path), find_sibling("a.c", tmp_path)
    assert package is not None and package.is_package
    assert module is not None and module.path == tmp_path / "a" / "c.py"
    assert find_sibling("a.d", tmp_path) is None


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        find_target("a/target.py", tmp_path)
    assert str(raised.value) == (
        f"There is no file {tmp_path / 'a' / 'target.py'}. The path 'a/target.py' was taken "
        f"relative to the root {tmp_path}. Check the path, or set the root with --sm120-root or "
        "the setting sm120_root."
    )


def test_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    with pytest.raises(UsageError) as raised:
        find_target("pkg", tmp_path)
    assert str(raised.value) == (
        f"{tmp_path / 'pkg'} is a folder, not a file. A target is one Python file. To load a "
        f"package, name its {Path('pkg') / '__init__.py'}."
    )


def compile_bytes(folder: Path, content: bytes) -> str:
    (folder / "target.py").write_bytes(content)
    with pytest.raises(TargetError) as raised:
        CompiledFiles().compile(find_target("target.py", folder))
    message = str(raised.value)
    ending = f" It was read from {folder / 'target.py'}. Correct the file, or name another one."
    assert message.endswith(ending)
    return message.removesuffix(ending)


def test_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    assert compile_bytes(tmp_path, b"x = 1\nif x\n") == (
        "target.py:2: the file is not Python that this interpreter can compile: SyntaxError: "
        "expected ':'."
    )


def test_undecodable_bytes_are_told(tmp_path: Path) -> None:
    message = compile_bytes(tmp_path, b"x = '\xff\xfe'\n")
    assert message.partition("SyntaxError: ")[0].endswith(
        "the file is not Python that this interpreter can compile: "
    )
    assert "can't decode byte 0xff" in message


def test_binary_file_is_told(tmp_path: Path) -> None:
    message = compile_bytes(tmp_path, b"\x7fELF\x00\x00\x01")
    assert message.startswith("target.py")
    assert "the file is not Python that this interpreter can compile: " in message
    assert "null bytes" in message


@pytest.mark.parametrize("content", [b"(" * 1000 + b")" * 1000, b"x = " + b"-" * 200_000 + b"1"])
def test_nesting_that_is_too_deep_is_told(tmp_path: Path, content: bytes) -> None:
    assert "the file is not Python that this interpreter can compile: " in compile_bytes(
        tmp_path, content
    )


def test_file_is_compiled_again_when_it_has_changed(tmp_path: Path) -> None:
    files = CompiledFiles()
    write(tmp_path, "target.py")
    target = find_target("target.py", tmp_path)
    first = files.compile(target)
    assert files.compile(target) is first
    (tmp_path / "target.py").write_text("x = 1000\n", encoding="utf-8")
    assert files.compile(target).code.co_consts != first.code.co_consts


@pytest.mark.filterwarnings("error")
def test_warning_of_the_compiler_is_not_passed_on(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text("x = '\\d'\ny = 1 is 1\n", encoding="utf-8")
    assert CompiledFiles().compile(find_target("target.py", tmp_path)).imports == frozenset()


def test_definition_of_a_function_is_found_in_the_tree_that_was_compiled(tmp_path: Path) -> None:
    text = "import lib\n@lib.jit\n@lib.more\ndef f(): pass\n"
    text += "def g():\n    def f(): pass\n    return f\n"
    (tmp_path / "target.py").write_text(text, encoding="utf-8")
    files = CompiledFiles()
    target = find_target("target.py", tmp_path)
    compiled = files.compile(target)
    codes = {code.co_name: code for code in compiled.code.co_consts if isinstance(code, CodeType)}
    inner = next(code for code in codes["g"].co_consts if isinstance(code, CodeType))
    assert files.definition_of(codes["f"]) is compiled.tree.body[1]
    assert files.definition_of(codes["g"]) is compiled.tree.body[2]
    assert files.definition_of(inner) is None


def test_definition_of_a_function_of_another_file_is_not_known(tmp_path: Path) -> None:
    assert CompiledFiles().definition_of(write.__code__) is None


def test_tree_is_not_known_once_the_file_has_changed(tmp_path: Path) -> None:
    write(tmp_path, "target.py")
    files, path = CompiledFiles(), tmp_path / "target.py"
    compiled = files.compile(find_target("target.py", tmp_path))
    assert files.known_tree(path) is compiled.tree
    path.write_text("x = 1000\n", encoding="utf-8")
    assert files.known_tree(path) is None
    path.unlink()
    assert files.known_tree(path) is None
