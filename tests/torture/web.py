"""The corpus through HTTP: a stream of JSON Lines, and one request at a time."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from tests.server.running import Running
from tests.torture.checks import Tally
from tests.torture.corpus import Case

__all__ = ["through_web"]

CODES = {400, 413, 422}
"""What a server may answer to a bad request; anything else is a fault."""


def through_web(cases: Sequence[Case], running: Running, *, every: int = 1) -> dict[str, Any]:
    """All cases as one stream; every so many of them as requests."""
    lines = [(case, line) for case in cases if (line := as_line(case)).strip()]
    doors = {"JSON Lines": streamed(lines, running), "requests": asked(cases[::every], running)}
    return {name: vars(tally) for name, tally in doors.items()}


def as_line(case: Case) -> bytes:
    if isinstance(case.content, bytes):
        return case.content.replace(b"\n", b" ")
    return json.dumps(case.content).encode()


def streamed(lines: list[tuple[Case, bytes]], running: Running) -> Tally:
    """One request with a line for each case; a line comes back for each, in order."""
    tally = Tally(inputs=len(lines))
    connection = http.client.HTTPConnection(running.host, running.port, timeout=3600)
    connection.putrequest("POST", "/v1/parse")
    connection.putheader("Content-Type", "application/x-ndjson")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()

    def send() -> None:
        for _, line in lines:
            connection.send(b"%x\r\n%s\n\r\n" % (len(line) + 1, line))
        connection.send(b"0\r\n\r\n")

    sender = threading.Thread(target=send)
    sender.start()
    answer = http.client.HTTPResponse(connection.sock, method="POST")
    answer.begin()
    found = [json.loads(line) for line in iter(answer.readline, b"")]
    sender.join()
    connection.close()
    if len(found) != len(lines):
        tally.fault("the stream", [f"{len(found)} answers to {len(lines)} lines"])
    for number, (case, _), data in zip(count(1), lines, found, strict=False):
        if data.get("line") != number:
            tally.fault(case.name, [f"line {data.get('line')} in the place of {number}"])
        check_answer(tally, case, data)
    return tally


def asked(cases: Sequence[Case], running: Running) -> Tally:
    """A request for each case; bytes are a body as they are."""
    tally = Tally()
    for case in cases:
        tally.inputs += 1
        content = case.content
        body: Any = content if isinstance(content, bytes) else {"text": content}
        if isinstance(content, list):
            body = {"tokens": [content]}
        answer = running.ask("POST", "/v1/parse", body, timeout=3600)
        if answer.status != 200 and answer.status not in CODES:
            tally.fault(case.name, [f"status {answer.status}: {answer.body[:200]!r}"])
        check_answer(tally, case, answer.json)
    return tally


def check_answer(tally: Tally, case: Case, data: dict[str, Any]) -> None:
    if "error" in data:
        tally.error(data["error"]["code"])
        tally.fault(case.name, refusal_faults(data["error"]))
        return
    tally.sentences += len(data["sentences"])
    if isinstance(case.content, bytes):  # it happened to be JSON
        return
    content = json.loads(json.dumps(case.content))  # as sent: two halves of a pair are one there
    text = " ".join(content) if isinstance(content, list) else content
    if not data["sentences"]:
        tally.fault(case.name, ["no sentence"])
    for sentence in data["sentences"]:
        if sentence.get("error") is not None:
            tally.error(sentence["error"]["code"])
            tally.fault(case.name, refusal_faults(sentence["error"]))
        else:
            tally.fault(case.name, sentence_faults(text, sentence))


def refusal_faults(error: dict[str, Any]) -> Iterator[str]:
    if not error.get("message") or error.get("code") in (None, "internal", "timeout"):
        yield f"the error {error}"


def sentence_faults(text: str, sentence: dict[str, Any]) -> Iterator[str]:
    tokens = sentence["tokens"]
    for token in tokens:
        if text[token["start"] : token["end"]] != token["text"]:
            yield f"{token!r:.80} is not at its place"
    nodes = sentence["syntax"]["nodes"]
    if not nodes or nodes[0][1:3] != [0, len(tokens)]:
        yield "the syntactic tree does not cover the tokens"
    if len(sentence["syntax"]["tags"]) != len(tokens):
        yield "not every token is in the syntactic tree"
    edus = sentence["discourse"]["edus"]
    if [edu[0] for edu in edus] != [0, *(edu[1] for edu in edus[:-1])]:
        yield "the EDUs do not follow each other"
    if edus[-1][1] != len(tokens):
        yield "the EDUs do not cover the tokens"
