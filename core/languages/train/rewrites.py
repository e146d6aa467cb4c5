"""Learns which endings turn a word into its English cognate: coali-cion, coali-tion.

Every table word is compared with the English words that begin alike. An ending rule is
right when the two vectors are close; rules that are right often enough are kept.
"""

import collections

import numpy as np

import potion

CLOSE = 0.45  # cosine from which two words are taken for cognates
LEAST_RIGHT = 4  # words a rule must have been right for
LEAST_LIKELIHOOD = 0.6  # 0.5 to 0.8 were tried; retrieval gains most at 0.6
MAX_ENDING = 7
ROOT = 3  # letters that both words begin with
SHORTEST, LEAST_COUNT = 5, 5  # of the words learnt from


def learn(model, words, rows, counts):
    """Returns `{(ending, English ending): likelihood}`."""
    english = [w for w in model.vocabulary if potion.is_word(w) and len(w) >= 4 and w.isascii()]
    vectors = normalise(model.rows[[model.vocabulary[word] for word in english]])
    by_root = collections.defaultdict(list)
    for i, word in enumerate(english):
        by_root[word[:ROOT]].append(i)
    verdicts = collections.defaultdict(lambda: [0, 0])
    for word, row, count in zip(words, normalise(rows), counts):
        neighbours = by_root.get(word[:ROOT])
        if count < LEAST_COUNT or len(word) < SHORTEST or not word.isascii() or not neighbours:
            continue
        for i, closeness in zip(neighbours, vectors[neighbours] @ row):
            for rule in rules(word, english[i]):
                verdicts[rule][0 if closeness >= CLOSE else 1] += 1
    likelihoods = {rule: right / (right + wrong + 1.5) for rule, (right, wrong) in verdicts.items() if right >= LEAST_RIGHT}
    return {rule: p for rule, p in likelihoods.items() if p >= LEAST_LIKELIHOOD}


def rules(word, english):
    """The rules that turn `word` into `english`: at the point where they part and up to
    three letters before it."""
    shared = 0
    while shared < min(len(word), len(english)) and word[shared] == english[shared]:
        shared += 1
    if word == english:
        return
    for at in range(max(ROOT, shared - 3), shared + 1):
        ending, new = word[at:], english[at:]
        if len(ending) <= MAX_ENDING and len(new) <= MAX_ENDING:
            yield ending, new


def normalise(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
