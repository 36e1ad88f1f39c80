#!/usr/bin/env python3
"""docs/coverage.md tells the effect of each field that a client can set, and names a test that exists.

The fields are those of the JSON bodies and of the queries in docs/api.yaml, the items of the configuration, and the keys of a manifest.

    fields.py DOCUMENT_JSON
"""
import json
import pathlib
import re
import sys

from known_tests import ROOT, known_tests

METHODS = ("get", "post", "put", "patch", "delete")
ITEM = re.compile(r'^\s*\{"([a-z_]+\.[a-z_]+)",', re.M)
BODY_HEADING, QUERY_HEADING = "Request", "Request with a query"
ITEMS_HEADING, MANIFEST_HEADING = "Item of the configuration", "Key of a manifest"


class Document:
    def __init__(self, path):
        self.root = json.loads(pathlib.Path(path).read_text())

    def resolved(self, node):
        while "$ref" in node:
            target = self.root
            for part in node["$ref"].split("/")[1:]:
                target = target[part]
            node = target
        return node

    def leaves(self, schema, name=""):
        """The fields that have none below them: "resources.memory", "services[].port"."""
        schema = self.resolved(schema)
        found = []
        for part in ("allOf", "oneOf", "anyOf"):
            for alternative in schema.get(part, []):
                found += self.leaves(alternative, name)
        for key, value in schema.get("properties", {}).items():
            found += self.leaves(value, f"{name}.{key}" if name else key)
        if "items" in schema and (inner := self.leaves(schema["items"], name + "[]")) != [name + "[]"]:
            found += inner
        return found or [name]

    def is_other_word(self, path):
        """Whether it is a route of containers under their other name."""
        other = path.replace("/1.0/instances", "/1.0/containers")
        return other != path and other in self.root["paths"]

    def operations(self):
        """("GET /1.0/images", the operation, the parameters of it and of its path)"""
        for path, item in self.root["paths"].items():
            if not self.is_other_word(path):
                for method in METHODS:
                    operation = item.get(method, {})
                    parameters = item.get("parameters", []) + operation.get("parameters", [])
                    yield f"{method.upper()} {path}", operation, [self.resolved(one) for one in parameters]

    def fields(self):
        for request, operation, _ in self.operations():
            body = self.resolved(operation.get("requestBody", {}))
            schema = body.get("content", {}).get("application/json", {}).get("schema")
            for field in self.leaves(schema) if schema else []:
                if field:
                    yield request, field

    def queries(self):
        for request, _, parameters in self.operations():
            for parameter in parameters:
                if parameter["in"] == "query":
                    yield request, parameter["name"]


def configuration_items():
    return {("", name) for name in ITEM.findall((ROOT / "libsvc/model/cluster/config_schema.cpp").read_text())}


def manifest_keys():
    text = (ROOT / "libsvc/model/packages/manifest.cpp").read_text()
    lists = re.findall(r"(?:text|other)_keys\{([^}]*)\}", text)
    return {("", key) for keys in lists for key in re.findall(r'"([\w-]+)"', keys)}


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def section():
    text = (ROOT / "docs/coverage.md").read_text()
    return text[text.index("## Fields of requests"):].split("\n## ")[0]


def rows():
    """(table, request or "", field, effect, tests) of each field."""
    heading, requests = "", [""]
    for line in section().splitlines():
        cells = [cell.strip() for cell in line.split("|")][1:-1]
        if not cells or set(cells[0]) == {"-"}:
            continue
        if not quoted(line):
            heading, requests = cells[0], [""]
            continue
        if heading in (BODY_HEADING, QUERY_HEADING):
            requests = quoted(cells[0]) or requests
        for request in requests:
            for name in quoted(cells[-3]):
                yield heading, request, name, cells[-2], quoted(cells[-1])


def faults_of(what, wanted, told):
    yield from (f"{what} {' '.join(row).strip()} is not in docs/coverage.md" for row in sorted(wanted - told))
    yield from (f"docs/coverage.md: there is no {what} {' '.join(row).strip()}" for row in sorted(told - wanted))


def main():
    document = Document(sys.argv[1])
    tests = known_tests()
    told = {heading: set() for heading in (BODY_HEADING, QUERY_HEADING, ITEMS_HEADING, MANIFEST_HEADING)}
    faults = []
    for heading, request, name, effect, names in rows():
        told[heading].add((request, name))
        if not effect or not names:
            faults.append(f"{request} {name}: no effect or no test")
        faults += [f"{request} {name}: there is no test {test}" for test in names if test not in tests]
    faults += faults_of("field", set(document.fields()), told[BODY_HEADING])
    faults += faults_of("query", set(document.queries()), told[QUERY_HEADING])
    faults += faults_of("item", configuration_items(), told[ITEMS_HEADING])
    faults += faults_of("key of a manifest", manifest_keys(), told[MANIFEST_HEADING])
    print("\n".join(faults) or f"{sum(map(len, told.values()))} fields have an effect and name a test")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
