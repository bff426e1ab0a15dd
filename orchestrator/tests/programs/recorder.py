"""Stands between the orchestrator and a program, and writes down what both say: `recorder.py DIRECTORY PROGRAM…`."""

import os
import subprocess
import sys

program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
with open(os.path.join(sys.argv[1], f"{os.getpid()}.lines"), "wb") as record:
    for question in sys.stdin.buffer:
        program.stdin.write(question)
        program.stdin.flush()
        answer = program.stdout.readline()
        # Who records may be killed at any moment; then the last line is not whole.
        record.write(question + answer)
        record.flush()
        sys.stdout.buffer.write(answer)
        sys.stdout.flush()
