"""Examples in texts: run when the site is built, compared with what is shown, and never run for a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore.site import build_site, examples
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from pathlib import Path

    from dpcore.site import Built

SITE = 'title = "A site"\n[[section]]\nname = "guide"\ntitle = "Guide"\nkind = "texts"\nfolder = "texts"\n'
TEXT = """# One

It is 0.4621, of 12.5.

```python
from pathlib import Path

from dpcore import parse

Path("{mark}").touch()
print(f"advantage {{parse('dp(1)').total_variation:.4f}}")
```

```text
advantage 0.4621
```
"""
OWN = "computed by dpcore when they were built: figures and tables are drawn, examples are run"


class Folder:
    """A site with one text, whose example leaves a mark when it is run."""

    def __init__(self, home: Path) -> None:
        self.home, self.mark, self.text = home, home / "mark", home / "texts" / "one.md"
        self.text.parent.mkdir(parents=True)
        (home / "site.toml").write_text(SITE, encoding="utf-8")
        (home / "texts" / "order.toml").write_text('[constants]\nany = ["12.5"]\none = []\n', encoding="utf-8")
        self.write()

    def write(self, old: str = "", new: str = "") -> None:
        """Write the text, a part of it replaced."""
        self.text.write_text(
            TEXT.format(mark=self.mark).replace(old, new) if old else TEXT.format(mark=self.mark), encoding="utf-8"
        )

    def build(self) -> Built:
        """Build the site."""
        self.mark.unlink(missing_ok=True)
        return build_site(self.home / "site.toml", self.home / "out", processes=1)

    @property
    def page(self) -> str:
        """The page of the text."""
        return (self.home / "out" / "guide" / "one.html").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Give a site of a stranger."""
    return Folder(tmp_path / "home")


@pytest.fixture
def own(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Give a site of our own."""
    monkeypatch.setattr(examples, "data_folder", lambda: folder.home)
    return folder


def test_a_strangers_text_is_never_run(folder: Folder) -> None:
    folder.write("advantage 0.4621", "advantage 0.9999")
    assert folder.build().drawn == ()
    assert not folder.mark.exists()
    assert OWN not in folder.page


def test_our_own_is_run_once_and_again_when_it_changed(own: Folder) -> None:
    assert own.build().drawn == ("examples-guide-one",)
    assert own.mark.exists()
    assert OWN in own.page
    assert own.build().drawn == ()
    assert not own.mark.exists(), "the second build runs what changed only"
    own.write("It is", "This is")
    assert own.build().drawn == ("examples-guide-one",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("\nadvantage 0.4621", "\nadvantage 0.9999", r"one\.md, line 15: the example prints 'advantage 0\.4621', the text says 'advantage 0\.9999'"),
        ("advantage 0.4621\n", "advantage 0.4621\nmore\n", r"one\.md, line 16: the example prints nothing, the text says 'more'"),
        ("print(f", "print(g", r"one\.md, line 6: the example fails: "),
        ("12.5", "12.6", r"one\.md, line 3: no example of the text computes the number 12\.6"),
        ("It is 0.4621", "It is 0.4623", r"one\.md, line 3: no example of the text computes the number 0\.4623"),
    ],
)  # fmt: skip
def test_a_changed_number_fails_the_build_with_its_line(own: Folder, old: str, new: str, words: str) -> None:
    own.write(old, new)
    with pytest.raises(SpecError, match=words):
        own.build()
    assert not (own.home / "out" / "guide" / "one.html").exists()
