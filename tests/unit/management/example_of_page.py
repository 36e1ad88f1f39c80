#!/usr/bin/env python3
"""Writes the one C++ example of a page of docs/ to a file: example_of_page.py PAGE OUTPUT."""
import pathlib
import re
import sys

page, output = map(pathlib.Path, sys.argv[1:])
examples = re.findall(r"^```cpp\n(.*?)^```$", page.read_text(), re.M | re.S)
if len(examples) != 1:
    sys.exit(f"{page}: {len(examples)} C++ examples instead of one")
output.write_text(examples[0])
