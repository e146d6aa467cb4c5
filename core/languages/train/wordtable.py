"""Reads and writes `xx.table` files; the format is described in ../README.md."""

import dataclasses
import hashlib
import struct
import zlib

import numpy as np

MAGIC = b"POSTILWT"
VERSION = 1
DIM = 256
HEAD_SIZE = 512
RECORD = np.dtype([("scale", "<f2"), ("share", "<u2"), ("values", "i1", DIM)])
ENTRY = np.dtype([("fingerprint", "<u4"), ("row", "u1", 3), ("extra", "i1")])
REWRITE = np.dtype([("likelihood", "u1"), ("ending", "S7")])
NO_ROW = 0xFFFFFF
MAX_REWRITES = 127
SCORE_UNITS = 40  # a stored score of 40 is log P(word | language) / P(word | English) = 1
ENTRIES_PER_BUCKET = 8


@dataclasses.dataclass
class Table:
    """What a table says, before it is laid out.

    `rows[i]` is the vector of `words[i]`, which occurs `counts[i]` times in the
    training text and has the stem `stems[i]` (of the Snowball algorithm
    `stemmer`; the word itself where that is empty). `scores` maps words to
    log P(word | language) - log P(word | English). `rewrites` maps (ending,
    English ending) to how often it proved right.
    """

    language: str
    stemmer: str
    words: list
    rows: np.ndarray
    counts: np.ndarray
    stems: list
    scores: dict
    rewrites: dict


def hash_key(key):
    """FNV-1a over the UTF-8 bytes, then MurmurHash3's 64-bit finaliser."""
    mask = 0xFFFFFFFFFFFFFFFF
    h = 0xCBF29CE484222325
    for byte in key.encode():
        h = ((h ^ byte) * 0x100000001B3) & mask
    h = ((h ^ (h >> 33)) * 0xFF51AFD7ED558CCD) & mask
    h = ((h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53) & mask
    return h ^ (h >> 33)


def build_index(keys):
    """Lays out `{key: (row, extra)}`: bucket starts and the entries they point into."""
    bits = max(0, (len(keys) // ENTRIES_PER_BUCKET).bit_length())
    hashed = sorted((hash_key(key), row, extra) for key, (row, extra) in keys.items())
    entries = np.zeros(len(hashed), ENTRY)
    buckets = np.zeros(len(hashed), np.int64)
    for i, (h, row, extra) in enumerate(hashed):
        buckets[i] = h >> (64 - bits) if bits else 0
        entries[i] = (h >> (32 - bits)) & 0xFFFFFFFF, list(row.to_bytes(3, "little")), extra
    places = {(b, f) for b, f in zip(buckets.tolist(), entries["fingerprint"].tolist())}
    if len(places) != len(hashed):
        raise ValueError("two keys share a fingerprint; leave one out")
    starts = np.searchsorted(buckets, np.arange((1 << bits) + 1)).astype("<u4")
    return starts, entries


def write(path, table, space, notice):
    """Writes a `Table`; `space` is the SHA-256 of the model's weights as bytes."""
    order = sorted(range(len(table.words)), key=lambda i: (table.stems[i], table.words[i]))
    words = [table.words[i] for i in order]
    counts = np.asarray(table.counts, np.float64)[order]
    groups = {}
    for i, j in enumerate(order):
        groups.setdefault(table.stems[j], []).append(i)
    records = quantise(table.rows[order])
    for members in groups.values():
        records["share"][members] = np.round(counts[members] / counts[members].sum() * 65535)
    rows = {word: i for i, word in enumerate(words)}
    index = {}
    for word in set(rows) | set(table.scores):
        score = int(np.clip(round(table.scores.get(word, 0.0) * SCORE_UNITS), -127, 127))
        index[word] = (rows.get(word, NO_ROW), score)
    has_stems = bool(table.stemmer)
    stems = {s: (m[0], min(len(m), 127)) for s, m in groups.items()} if has_stems else {}
    endings, rewrites = lay_out_rewrites(table.rewrites)
    text = "\n".join([notice.strip(), "", *(f"{w}\t{int(c)}" for w, c in zip(words, counts))])
    parts = [records, *build_index(index), *build_index(stems), *build_index(endings), rewrites]
    body, places, at = [], [], HEAD_SIZE
    for part in [*(p.tobytes() for p in parts), zlib.compress(text.encode(), 9)]:
        part += bytes(-len(part) % 8)
        places.append((at, len(part)))
        body.append(part)
        at += len(part)
    body = b"".join(body)
    head = MAGIC + struct.pack("<I2sHII", VERSION, table.language.encode(), DIM, len(records), 0)
    head += table.stemmer.encode().ljust(16, b"\0") + hashlib.sha256(body).digest() + space
    head += b"".join(struct.pack("<QQ", *p) for p in places)
    with open(path, "wb") as file:
        file.write(head.ljust(HEAD_SIZE, b"\0") + body)


def lay_out_rewrites(rewrites):
    """Lays out `{(ending, new ending): likelihood}`: an index by ending, and the list."""
    by_ending = {}
    for (ending, new), likelihood in rewrites.items():
        by_ending.setdefault(ending, []).append((-likelihood, new))
    index, records = {}, []
    for ending, news in sorted(by_ending.items()):
        news = sorted(news)[:MAX_REWRITES]
        index[ending] = (len(records), len(news))
        records += [(round(-negative * 255), new.encode()) for negative, new in news]
    return index, np.array(records, REWRITE)


def quantise(rows):
    """Rounds each row to 127 steps of its own largest value."""
    scale = np.abs(rows).max(1) / 127
    scale[scale == 0] = 1
    # The stored scale is what readers multiply with, so divide by that one.
    scale = scale.astype(np.float16)
    records = np.zeros(len(rows), RECORD)
    records["scale"] = scale
    records["values"] = np.clip(np.round(rows / scale.astype(np.float32)[:, None]), -127, 127)
    return records
