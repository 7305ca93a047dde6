"""The tables that pages quote are those of the committed results."""

import json
from pathlib import Path

import pytest
import report

ROOT = Path(__file__).parents[2]


def result(sentences: int, seconds: float, memory: float) -> dict[str, float]:
    rates = {"sentences_per_second": sentences / seconds, "tokens_per_second": 20 / seconds}
    return {"sentences": sentences, "seconds": seconds, "memory_mb": memory, **rates}


SPEED = {
    "machine": {"cpu": "a processor", "cores": 2, "when": "2026-01-01 00:00:00"},
    "models": {"lstm": {}},
    "sections": {
        "accuracy": {"load_average": [0.5, 1.0], "results": {"lstm": {"f1": 85.0}}},
        "batched": {
            "load_average": [0.1, 2.0],
            "results": {
                "supar": result(10, 2.0, 500),
                "lstm": result(10, 0.1, 200),
                "stanza": {"error": "the process died"},
                "ratios": {"lstm": {"median": 20.0}, "supar": {"median": 1.0}},
            },
        },
        "single": {
            "results": {"lstm": result(4, 0.02, 200), "ratios": {"lstm": {"median": 8.0}}}
        },
        "start": {"results": {"error": "OSError: it failed"}},
        "lengths": {
            "results": {
                "lstm": {"single": {"10": {"ms": 5.0}, "40": {"ms": 30.0}}, "batched": {}},
                "supar": {"single": {"10": {"ms": 50.0}, "40": {"error": "ValueError: |"}},
                          "batched": {"10": result(5, 1.0, 9)}},
            }
        },
    },
}  # fmt: skip
FRONTIER = {
    "points": {
        "lstm": {
            "model": {"precision": "fp32"},
            "f1": {"greedy": {"dev": 84.0}, "beam 20": {"dev": 84.5, "test": 83.0}},
            "speed": {"greedy": {"tokens_per_second": 2000.0}},
        }
    }
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "speed.json").write_text(json.dumps(SPEED))
    (tmp_path / "frontier.json").write_text(json.dumps(FRONTIER))
    return tmp_path


def test_the_headline_has_ours_first_and_ratios_to_the_baseline():
    lines = report.speed_table(SPEED).splitlines()
    assert lines[2] == "| cleft, lstm | 85.00 | 100 | 20.0 | 5.00 | 8.00 | – | 200 |"
    assert lines[3] == "| SuPar 1.1.4 (CRF) | – | 5.00 | – | – | – | – | 500 |"
    assert lines[4].startswith("| Stanza 1.15.0, random weights | – | – |")
    assert "load average 0.1 to 2.0" in lines[-1]


def test_what_a_parser_cannot_do_is_told_below_the_table():
    text = report.lengths_table(SPEED)
    assert "| cleft, lstm | 0.500 | 0.750 |" in text
    assert "| SuPar 1.1.4 (CRF) | 5.00 | – |" in text
    assert text.endswith("- SuPar 1.1.4 (CRF), 40 tokens: ValueError: /")


def test_a_section_that_failed_leaves_an_empty_table():
    assert len(report.start_table(SPEED).splitlines()) == 2


def test_only_what_is_between_markers_changes(results):
    page = "before\n<!-- frontier:begin -->\nold\n<!-- frontier:end -->\nafter\n"
    text = report.filled(page, results)
    assert text.startswith("before\n<!-- frontier:begin -->\n![")
    assert "| lstm | fp32 | beam 20 | 84.50 | 83.00 | – |" in text
    assert text.endswith("<!-- frontier:end -->\nafter\n")
    assert report.filled(text, results) == text


def test_a_table_without_results_says_so(tmp_path):
    page = "<!-- gemm:begin -->\n<!-- gemm:end -->"
    assert report.filled(page, tmp_path) == (
        "<!-- gemm:begin -->\n*Not measured yet.*\n<!-- gemm:end -->"
    )


def test_the_plots_have_a_curve_for_each_parser_and_a_point_for_each_model(results):
    found = report.drawings(results)
    assert found["lengths.svg"].count("<polyline") == 2
    assert found["lengths-batched.svg"].count("<polyline") == 1
    assert found["frontier.svg"].count("<circle") == 1


def test_the_pages_hold_what_the_committed_results_make():
    for page in report.PAGES:
        text = page.read_text(encoding="utf-8")
        assert report.filled(text) == text, f"{page.name}: run python benchmarks/report.py"


def test_the_front_page_tells_the_numbers_of_the_results_and_the_cards():
    speed = report.read(report.RESULTS, "speed")
    lines = report.front_table(speed).splitlines()
    assert lines[0] == "|  | `en` | `en-fast` | SuPar 1.1.4 (CRF) |"
    cells = [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines[2:]]
    assert len(cells) == 6
    assert cells[0][2] == f"{report.part(speed, 'accuracy')['supar']['f1']:.1f}"
    for number, model in enumerate(report.BUILT_IN):
        card = (ROOT / "docs" / "cards" / f"{model}.md").read_text(encoding="utf-8")
        assert f" / {cells[2][number]} |" in card
        assert f" | {cells[0][number]} | " in card
        assert f" | {cells[1][number]} | " in card
    assert cells[4][2] == "–"


def test_the_committed_plots_are_those_of_the_results():
    for name, svg in report.drawings().items():
        assert (report.RESULTS / name).read_text(encoding="utf-8") == svg


def test_start_up_is_told_against_the_fastest_peer():
    each = {"import_seconds": 0.1, "load_seconds": 0.1, "memory_mb": 50.0}
    results = {
        "python": {"seconds": 0.02},
        "lstm": {"seconds": 0.5, **each},
        "supar": {"seconds": 4.0, **each},
        "stanza": {"seconds": 5.0, **each},
        "benepar": {"error": "no end after 20 seconds"},
    }
    speed = {"models": {"lstm": {}}, "sections": {"start": {"results": results}}}
    lines = report.start_table(speed).splitlines()
    assert lines[3] == "| cleft, lstm | 0.500 | 0.100 | 0.100 | 50.0 | 0.125 × |"
    assert lines[-1].startswith("| Stanza 1.15.0, random weights | 5.00 |")


def test_products_are_one_line_a_shape_library_and_number_of_threads():
    shape = {"threads": 1, "inputs": 8, "outputs": 9}
    gemm = [
        {**shape, "rows": 1, "onnxruntime": 2.0, "numpy": 3.0},
        {**shape, "rows": 32, "onnxruntime": 80.0, "numpy": 70.0},
    ]
    lines = report.gemm_table({"gemm": gemm}).splitlines()
    assert lines[0] == "| GFLOP/s | by | threads | 1 row | 32 rows |"
    assert lines[2] == "| 8 → 9 | ONNX Runtime | 1 | 2.00 | 80.0 |"


def test_shares_and_sizes_have_a_line_for_each_part():
    part = {"share": 52.9, "us_per_token": 209.4, "gflops": 69.8}
    shares = {"shares": {"lstm": {"greedy": {"parts": {"encoder": part}}}}}
    assert "| lstm | greedy | encoder | 52.9 % | 209 | 69.8 |" in report.shares_table(shares)
    sizes = {
        "cleft": {"total_mb_without_pip": 100.0, "packages_mb": {"numpy": 70.2, "pip": 9.0}},
        "supar": {"total_mb_without_pip": 800.0, "packages_mb": {"torch": 700.0, "six": 0.1}},
        "stanza": {"error": "not installed"},
    }
    text = report.sizes_table(sizes)
    assert "| supar | 800.0 | 8.00 × |" in text
    assert "Of 1 MB or more in cleft's: numpy 70.\n" in text
    assert "stanza" not in text


def test_the_growth_of_decoders_is_told_by_its_exponents(tmp_path: Path) -> None:
    sizes = (80, 160, 320)
    line = {str(n): {"steps": n, "splits": n * n, "ms": 0.1 * n, "memory_mb": 0.0} for n in sizes}
    cube = {
        str(n): {"steps": n, "splits": n**3, "ms": n**3 / 1e3, "memory_mb": n**2} for n in sizes
    }
    cube["640"] = {"error": "RuntimeError: a | b"}
    found = {"machine": {}, "quick": False, "decoders": {"en, greedy": line, "a chart": cube}}
    (tmp_path / "complexity.json").write_text(json.dumps(found))
    page = report.filled("<!-- complexity:begin -->\n<!-- complexity:end -->", tmp_path)
    assert "| en, greedy | 1.00 | 2.00 | 1.00 | – | 320 | – |" in page
    assert "| a chart | 1.00 | 3.00 | 3.00 | 2.00 | 320 | RuntimeError: a / b |" in page
    drawn = report.drawings(tmp_path)
    assert set(drawn) == {f"complexity-{name}.svg" for name in ("steps", "splits", "ms", "memory")}
    assert all(f"(../benchmarks/results/{name})" in page for name in drawn)
    assert drawn["complexity-memory.svg"].count("<polyline") == 1
