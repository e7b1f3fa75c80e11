"""No rule offers a fix that is surer than it says: runs that want only safe fixes do not ask the others."""

from __future__ import annotations

from pathlib import Path

from nonstrict.check.run import RunOptions, check
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings
from tests.fixes.test_pages import Case, cases
from tests.rules.examples import examples

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "cases"


def test_no_fix_is_surer_than_its_rule_says(tmp_path: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.py"))]
    texts += [text for example in examples() for name, text in example.case.files.items() if name == "main.py"]
    texts += [value.before for case in cases() for value in getattr(case, "values", ()) if isinstance(value, Case)]
    for number, text in enumerate(texts):
        (tmp_path / f"m{number:04}").mkdir()
        (tmp_path / f"m{number:04}" / "program.py").write_text(text, encoding="utf-8")
    result = check([str(tmp_path)], default_settings(str(tmp_path)), RunOptions(jobs=1))
    offered = [(one.code, fix.applicability) for one in result.diagnostics for fix in one.fixes]
    assert len(offered) > 300
    told = {code: rule.surest for code, rule in RULES.items() if rule.fixes is not None}
    surest = {code: max(sure for other, sure in offered if other == code) for code, _ in offered if code in told}
    assert told.keys() - surest.keys() <= {"NST702"}, "its fixes need compiled code beside the program"
    assert not {code: sure for code, sure in surest.items() if sure > told[code]}
