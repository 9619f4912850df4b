"""What README.md shows of Python, as it stands there."""

import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def test_readme(tmp_path, monkeypatch):
    blocks = re.findall(r"```python library\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks[0], "README.md", "exec"), {})
    assert (tmp_path / "spam.model").stat().st_size > 0
