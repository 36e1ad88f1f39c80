#!/usr/bin/env python3
"""docs/gateway-api.yaml has each route of the gateway in docs/coverage.md (which a test of the gateway holds to the program),
and the answers that the gateway's tests compare with are as its schemas say.

    openapi_test.py DOCUMENT_JSON
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/api"), str(ROOT / "tests/lint")]
import coverage  # noqa: E402
import openapi_test as api  # noqa: E402

# Not of the API: the page, and the metrics' own listener.
ELSEWHERE = {("GET", "/"), ("GET", "/web/{file}"), ("GET", "/internal/1.0/metrics")}
GOLDEN = {
    "account_created": "AccountAnswer",
    "accounts": "AccountsAnswer",
    "applications": "ApplicationsAnswer",
    "regions": "NamesAnswer",
    "session": "SessionAnswer",
    "session_created": "CreatedAnswer",
    "session_deleted": "EmptyAnswer",
    "session_joined": "JoinedAnswer",
    "starting": "ErrorAnswer",
    "status": "StatusAnswer",
    "status_with_token": "StatusAnswer",
}


def check_routes(document):
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in coverage.METHODS
                 if method in item}
    rows = {row for heading, row, _ in coverage.table() if heading == "Stream gateway" and row[0] != "METRIC"}
    assert described == rows - ELSEWHERE, sorted(described ^ (rows - ELSEWHERE))


def check_answers(document):
    files = {path.stem: path for path in (ROOT / "tests/gateway/golden").glob("*.json")}
    assert files.keys() == GOLDEN.keys(), sorted(files.keys() ^ GOLDEN.keys())
    schemas = api.Schemas(document)
    for name, path in files.items():
        answer = json.loads(path.read_text().replace('"<number>"', "0"))
        schemas.check(answer, {"$ref": "#/components/schemas/" + GOLDEN[name]}, GOLDEN[name], name)


def main():
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    check_routes(document)
    check_answers(document)
    print(f"{len(document['paths'])} paths, {len(GOLDEN)} answers")


if __name__ == "__main__":
    main()
