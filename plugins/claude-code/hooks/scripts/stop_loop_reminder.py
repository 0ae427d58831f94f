#!/usr/bin/env python3
"""The Stop hook under the name that settings from elsewhere may have: hands over to ../generated/stop.cjs."""
import os
import sys

HOOK = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "generated", "stop.cjs")
try:
    os.execvp("node", ["node", HOOK])
except OSError as error:
    sys.exit(f"ralph: node is needed to run {HOOK}: {error}")
