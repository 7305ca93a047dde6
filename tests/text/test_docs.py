"""The example in docs/text.md does what it says."""

import re
from pathlib import Path


def test_the_example_of_the_page_prints_what_it_says(capsys):
    page = (Path(__file__).parents[2] / "docs" / "text.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert code is not None
    expected = re.findall(r"^# (.*)$", code[1], re.MULTILINE)
    exec(compile(code[1], "docs/text.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == expected
