"""schemathesis makes requests from the served description: no fault, no answer but as described."""

from typing import get_args

import msgspec
import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from cleft.metrics.prm import SETTINGS  # noqa: E402
from cleft.server.requests import EvaluateRequest  # noqa: E402
from cleft.server.responses import LineAnswer, LineFailure  # noqa: E402
from tests.server.running import Running  # noqa: E402

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
OPERATIONS = [
    ("/v1/parse", "POST"),
    ("/v1/segment", "POST"),
    ("/v1/document", "POST"),
    ("/v1/draw", "POST"),
    ("/v1/evaluate", "POST"),
    ("/v1/models", "GET"),
    ("/healthz", "GET"),
]
EXAMPLES = 15


@pytest.fixture(scope="module")
def api(documents: Running) -> "schemathesis.BaseSchema":
    return schemathesis.openapi.from_url(f"{documents.url}/openapi.json")


def test_all_that_is_described_is_tried(api: "schemathesis.BaseSchema") -> None:
    assert sorted(OPERATIONS) == sorted((path, name.upper()) for path in api for name in api[path])


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_answers_are_as_described(
    api: "schemathesis.BaseSchema", path: str, method: str, mode: GenerationMode
) -> None:
    if method == "GET" and mode is GenerationMode.NEGATIVE:
        pytest.skip("there is nothing to get wrong")
    statuses = set()

    @settings(
        max_examples=EXAMPLES if method == "POST" else 1,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    def check(case: "schemathesis.Case") -> None:
        response = case.call()
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    check()
    assert statuses <= {200, 400, 405, 413, 415, 422}
    assert (200 in statuses) is (mode is GenerationMode.POSITIVE)


def test_names_of_parameter_files_are_those_of_the_library() -> None:
    field = next(one for one in msgspec.structs.fields(EvaluateRequest) if one.name == "prm")
    assert set(get_args(get_args(field.type)[0])) == set(SETTINGS)


def test_lines_of_a_stream_are_as_described(server: Running) -> None:
    """OpenAPI has no schema for the lines of a body, so schemathesis does not look at them."""
    body = b'"Rain fell, so she left."\n[]\n3\n["a", "b"]\n'
    query = "beam=4&n_best=3&alternatives=2&trace=true&formats=brackets,jsonl,rs3,svg"
    kind = {"Content-Type": "application/x-ndjson"}
    answer = server.ask("POST", f"/v1/parse?{query}", body, kind)
    lines = [msgspec.json.decode(line) for line in answer.body.splitlines()]
    kinds = [LineFailure if "error" in line else LineAnswer for line in lines]
    assert kinds == [LineAnswer, LineAnswer, LineFailure, LineAnswer]
    for line, struct in zip(lines, kinds, strict=True):
        assert msgspec.to_builtins(msgspec.convert(line, struct)).keys() == line.keys()
