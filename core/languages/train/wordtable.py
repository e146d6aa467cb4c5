"""Reads and writes `xx.table` files; the format is described in ../README.md."""

import hashlib
import struct
import zlib

import numpy as np

MAGIC = b"POSTILWT"
VERSION = 1
DIM = 256
HEAD_SIZE = 256
RECORD = np.dtype([("scale", "<f2"), ("share", "<u2"), ("values", "i1", DIM)])
ENTRY = np.dtype([("fingerprint", "<u4"), ("row", "u1", 3), ("extra", "i1")])
NO_ROW = 0x7FFFFF
BEGINS_PHRASE = 0x800000
SCORE_UNITS = 40  # a stored score of 40 is log P(word | language) / P(word | English) = 1
ENTRIES_PER_BUCKET = 8
SECTIONS = ("rows", "word_starts", "words", "stem_starts", "stems", "phrase_starts", "phrases", "text")


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


def write(path, language, stemmer, space, rows, counts, words, stems, scores, phrases, phrase_rows, notice):
    """Writes a table.

    `rows` are float vectors, one per word of `words`, occurring `counts` times
    in the training text; `stems` their stems (or None); `scores` maps words to
    log-odds; `phrases` maps "a b c" to an index into `phrase_rows`; `space` is
    the SHA-256 of the model's weights as bytes.
    """
    order = sorted(range(len(words)), key=lambda i: (stems[i] if stems else "", words[i]))
    words = [words[i] for i in order]
    rows, counts = rows[order], np.asarray(counts, np.float64)[order]
    groups = {}
    for i, j in enumerate(order):
        groups.setdefault(stems[j] if stems else i, []).append(i)
    shares = np.zeros(len(words))
    for members in groups.values():
        shares[members] = counts[members] / counts[members].sum()
    records = quantise(np.vstack([rows, phrase_rows]) if len(phrase_rows) else rows)
    records["share"][: len(words)] = np.round(shares * 65535)
    first_words = {phrase.split(" ")[0] for phrase in phrases}
    place = {word: i for i, word in enumerate(words)}
    index = {}
    for word in set(place) | set(scores) | first_words:
        score = int(np.clip(round(scores.get(word, 0.0) * SCORE_UNITS), -127, 127))
        index[word] = (place.get(word, NO_ROW) | (BEGINS_PHRASE if word in first_words else 0), score)
    stem_index = {s: (m[0], min(len(m), 127)) for s, m in groups.items()} if stems else {}
    phrase_index = {p: (len(words) + i, p.count(" ") + 1) for p, i in phrases.items()}
    text = "\n".join([notice.strip(), "", *(f"{w}\t{int(c)}" for w, c in zip(words, counts))])
    body, places = [], []
    at = HEAD_SIZE
    parts = [records, *build_index(index), *build_index(stem_index), *build_index(phrase_index)]
    for part in [*(p.tobytes() for p in parts), zlib.compress(text.encode(), 9)]:
        part += bytes(-len(part) % 8)
        places.append((at, len(part)))
        body.append(part)
        at += len(part)
    body = b"".join(body)
    head = MAGIC + struct.pack("<I2sHII", VERSION, language.encode(), DIM, len(records), 0)
    head += stemmer.encode().ljust(16, b"\0") + hashlib.sha256(body).digest() + space
    head += b"".join(struct.pack("<QQ", *p) for p in places)
    with open(path, "wb") as file:
        file.write(head.ljust(HEAD_SIZE, b"\0") + body)


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
