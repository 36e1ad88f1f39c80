#!/usr/bin/env python3
"""Makes the OpenAPI document that svcd serves from docs/api.yaml (its head says what is added), as a C++ source.

    openapi.py API_YAML OUTPUT        OUTPUT ends in .cpp or .json
"""
import copy
import json
import sys

import yaml

METHODS = ("get", "post", "put", "patch", "delete")


def fill_required(schema):
    """Every property is required that x-optional does not name."""
    if isinstance(schema, list):
        for item in schema:
            fill_required(item)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict) and "required" not in schema:
        optional = schema.get("x-optional", [])
        schema["required"] = [name for name in schema["properties"] if name not in optional]
    if schema.get("required") == []:
        del schema["required"]
    for value in schema.values():
        fill_required(value)


def alias(paths, path, item):
    """The operations of x-same-as, under another path, with examples of their own."""
    result = copy.deepcopy(paths[item["x-same-as"]])
    for method in METHODS:
        if method in result:
            operation = result[method]
            operation["operationId"] = operation["operationId"].replace("Container", "Instance")
            operation["tags"] = ["instances"]
            operation["summary"] += " (the newer path)"
            operation["x-examples"] = item.get("x-examples", {}).get(method, [])
    return result


def add_request_examples(operation):
    """The bodies of x-examples, where readers of OpenAPI look for them."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    for example in operation.get("x-examples", []):
        if content is not None and "body" in example and example.get("status", 200) < 400 and \
                example["request"].split()[0].lower() == operation["x-method"]:
            content.setdefault("examples", {})[example["name"].replace(" ", "-")] = {"value": example["body"]}
    del operation["x-method"]


def build(text):
    document = yaml.safe_load(text)
    paths = document["paths"]
    for path, item in list(paths.items()):
        if "x-same-as" in item:
            paths[path] = alias(paths, path, item)
    for item in paths.values():
        for method in METHODS:
            if method in item:
                item[method]["x-method"] = method
                add_request_examples(item[method])
    fill_required(document["components"]["schemas"])
    fill_required(document["components"]["responses"])
    for item in paths.values():
        for method in METHODS:
            if method in item:
                fill_required(item[method]["responses"])
    return document


def as_cpp(text):
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    lines = ['#include "server/routes/openapi_document.h"', "", "namespace svc::server {", "",
             "std::string openapi_document() {", "    std::string text;"]
    lines += ['    text += R"openapi(' + piece + ')openapi";' for piece in pieces]
    lines += ["    return text;", "}", "", "}  // namespace svc::server", ""]
    return "\n".join(lines)


def main():
    with open(sys.argv[1], encoding="utf-8") as source:
        text = json.dumps(build(source.read()), ensure_ascii=True)
    with open(sys.argv[2], "w", encoding="utf-8") as output:
        output.write(as_cpp(text) if sys.argv[2].endswith(".cpp") else text + "\n")


if __name__ == "__main__":
    main()
