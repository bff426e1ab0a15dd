"""A program that lets everybody in at once, whoever is inside."""

import sys

for line in sys.stdin:
    enters = line.startswith('{"request"')
    print('{"do":[{"enter":{}}]}' if enters else '{"do":[]}', flush=True)
