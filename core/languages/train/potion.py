"""The English side: potion-base-8M's rows and its way of splitting words."""

import hashlib
import json
import pathlib
import re
import struct
import unicodedata

import numpy as np

TOKENS = re.compile(r"[^\W_]+|[^\w\s]|_")
LETTERS = re.compile(r"[^\W\d_]+")


def fold(text):
    """Lower case, canonical decomposition, non-spacing marks dropped."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")


def tokens(text):
    """The folded words and signs of a text."""
    return [fold(token) for token in TOKENS.findall(unicodedata.normalize("NFC", text))]


def is_word(token):
    return LETTERS.fullmatch(token) is not None


class Potion:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        weights = (folder / "model.safetensors").read_bytes()
        (size,) = struct.unpack("<Q", weights[:8])
        tensor = json.loads(weights[8 : 8 + size])["embeddings"]
        start, end = tensor["data_offsets"]
        data = weights[8 + size + start : 8 + size + end]
        self.rows = np.frombuffer(data, "<f4").reshape(tensor["shape"])
        self.space = hashlib.sha256(weights).digest()
        self.vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
        self.longest = max(map(len, self.vocabulary))
        self.known = {}

    def ids(self, token):
        """The word pieces of a folded token: greedy longest match, or none."""
        if token not in self.known:
            self.known[token] = self.split(token)
        return self.known[token]

    def split(self, token):
        found, at = [], 0
        while at < len(token):
            prefix = "##" if at else ""
            for end in range(min(len(token), at + self.longest), at, -1):
                piece = self.vocabulary.get(prefix + token[at:end])
                if piece is not None:
                    break
            else:
                return []
            found.append(piece)
            at = end
        return found

    def vector(self, token):
        """The sum of a token's rows."""
        return self.rows[self.ids(token)].sum(0) if self.ids(token) else np.zeros(self.rows.shape[1], np.float32)
