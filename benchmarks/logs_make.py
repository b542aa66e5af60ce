"""Many logs of healthy containers from a few that real Spark wrote, with other times, numbers, ids and hosts in each.

usage: logs_make.py SOURCE OUT --megabytes 1000 [--gz]

SOURCE is a folder of logs of one healthy application: the driver's and its executors' stderr, each a file. OUT is a
folder with `tree/`, one log per container under `<application>/<container>/stderr`, and `one.log`, all of them in one
file. Each copy has its own clock, host, application, task numbers and sizes, so that a reader that knows a record again
by its bytes gains nothing here that it does not gain on logs of a cluster. Versions and single digits stay.
"""

import argparse
import gzip
import re
from pathlib import Path

CHANGES = re.compile(
    rb"(?P<time>(?<=[0-9] )\d\d:\d\d:\d\d)"
    rb"|(?P<address>\b(?:127|10|192|172)\.\d{1,3}\.\d{1,3}\.\d{1,3}\b)"
    rb"|(?P<number>(?<![\w.:/-])\d{2,9}(?![\w./:-])|(?<=TID )\d+|(?<=task )\d+(?=\.)|(?<=broadcast_)\d+|(?<=:)\d{5}\b)"
)
DAY_S = 86_400


def changed(kind: str, text: bytes, copy: int, place: int) -> bytes:
    """What stands in one copy for a piece of the source."""
    if kind == "time":
        hours, minutes, seconds = map(int, text.split(b":"))
        at = (hours * 3600 + minutes * 60 + seconds + copy * 37) % DAY_S
        return b"%02d:%02d:%02d" % (at // 3600, at // 60 % 60, at % 60)
    if kind == "address":
        return b"10.%d.%d.%d" % (copy >> 16 & 255, copy >> 8 & 255, copy & 255)
    return b"%d" % (int(text) + copy * 7919 + place * copy % 89)


def pieces_of(source: bytes) -> tuple[list[bytes], list[tuple[int, str, bytes]]]:
    """A log cut at all that changes, and which of the pieces do."""
    pieces: list[bytes] = []
    changing = []
    at = 0
    for found in CHANGES.finditer(source):
        pieces.append(source[at : found.start()])
        changing.append((len(pieces), str(found.lastgroup), found[0]))
        pieces.append(found[0])
        at = found.end()
    pieces.append(source[at:])
    return pieces, changing


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--containers", type=int, default=1000)
    parser.add_argument("--gz", action="store_true", help="also the tree as .gz, in tree_gz/")
    asked = parser.parse_args()
    sources = [pieces_of(path.read_bytes()) for path in sorted(asked.source.iterdir()) if path.is_file()]
    each = asked.megabytes * 1_000_000 // asked.containers
    asked.out.mkdir(parents=True)
    copy = 0
    with (asked.out / "one.log").open("wb") as one:
        for container in range(1, asked.containers + 1):
            application = f"application_1700000000000_{1 + container // 100:04d}"
            folder = Path(application) / f"container_{application[12:]}_01_{container:06d}"
            log = b""
            while len(log) < each:
                copy += 1
                pieces, changing = sources[copy % len(sources)]
                new = list(pieces)
                for place, kind, text in changing:
                    new[place] = changed(kind, text, copy, place)
                log += b"".join(new)
            log = log[: log.rfind(b"\n", 0, each) + 1]
            one.write(log)
            (asked.out / "tree" / folder).mkdir(parents=True)
            (asked.out / "tree" / folder / "stderr").write_bytes(log)
            if asked.gz:
                (asked.out / "tree_gz" / folder).mkdir(parents=True)
                (asked.out / "tree_gz" / folder / "stderr.gz").write_bytes(gzip.compress(log, 1))
    print(f"{(asked.out / 'one.log').stat().st_size / 1e6:,.0f} MB, {copy:,} copies, {asked.containers:,} containers")


if __name__ == "__main__":
    main()
