"""Replaces words in event logs, so that none of a machine's paths and names gets into the repository.

usage: scrub_log.py FROM TO OLD=NEW…    (FROM a file or a rolled directory; TO is written)

Compressed files stay compressed frame by frame, as Spark wrote them.
"""

import pathlib
import sys

import zstandard


def replaced(text: bytes, words: list[tuple[bytes, bytes]]) -> bytes:
    for old, new in words:
        text = text.replace(old, new)
    return text


def scrub(data: bytes, words: list[tuple[bytes, bytes]]) -> bytes:
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return replaced(data, words)
    # No content size and no checksum in the header: so writes Spark.
    writer = zstandard.ZstdCompressor(level=19, write_content_size=False)
    frames = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        frames.append(writer.compress(replaced(frame.decompress(data), words)))
        data = frame.unused_data
    return b"".join(frames)


def main(source: pathlib.Path, target: pathlib.Path, words: list[tuple[bytes, bytes]]) -> None:
    for file in [source] if source.is_file() else sorted(source.iterdir()):
        if file.name.startswith("."):
            continue
        place = target if source.is_file() else target / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(scrub(file.read_bytes(), words))


if __name__ == "__main__":
    pairs = [tuple(word.encode() for word in pair.split("=", 1)) for pair in sys.argv[3:]]
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), [(pair[0], pair[1]) for pair in pairs])
