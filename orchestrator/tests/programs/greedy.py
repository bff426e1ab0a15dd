"""A program that lets everybody in at once, no matter who is inside."""

import sys

for line in sys.stdin:
    enters = line.startswith('{"request"')
    print('{"do":[{"enter":{}}]}' if enters else '{"do":[]}', flush=True)
