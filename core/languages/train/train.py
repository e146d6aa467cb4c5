#!/usr/bin/env python3
"""Trains a word table from sentence pairs.

    train.py --language es --stemmer spanish --model DIR --notice NOTICE pairs.tsv es.table

pairs.tsv: one pair a line, the other language, a tab, English. ../README.md says how
many pairs it takes and what to look for in them.
"""

import argparse
import collections
import pathlib
import sys

import numpy as np
import scipy.sparse

import potion
import rewrites
import wordtable

RIDGE = 0.3  # pulls a word's vector towards its prior; 0.1 to 1.0 make no difference
NGRAM_RIDGE = 2.0
NGRAM_BUCKETS = 1 << 15
ITERATIONS = 20
COPIED = 0.6  # words that stand on both sides this often (names, code) pass through untouched
COPY_PRIOR = 0.35  # words copied this often have their own English row as prior
N_ENGLISH = 20_000  # English words that get a score
MAX_SCORE = 3.0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--language", required=True, help="ISO 639-1 code")
    arguments.add_argument("--stemmer", default="", help="Snowball algorithm, such as spanish")
    arguments.add_argument("--model", required=True, help="folder of potion-base-8M")
    arguments.add_argument("--notice", help="text file naming the sources and their licences")
    arguments.add_argument("--least", type=int, default=2, help="occurrences a word needs [2]")
    arguments.add_argument("pairs")
    arguments.add_argument("table")
    args = arguments.parse_args()
    if len(args.language) != 2 or not args.language.isascii():
        arguments.error("--language takes a two-letter code")
    model = potion.Potion(args.model)
    pairs = [read_pair(line) for line in open(args.pairs, encoding="utf-8") if line.strip()]
    table = train(model, pairs, args.language, args.stemmer, args.least)
    notice = pathlib.Path(args.notice).read_text(encoding="utf-8") if args.notice else ""
    wordtable.write(args.table, table, model.space, notice)
    size = pathlib.Path(args.table).stat().st_size
    print(f"{args.table}: {len(pairs)} pairs, {len(table.words)} words, {size / 1e6:.1f} MB")


def read_pair(line):
    fields = line.rstrip("\n").split("\t")
    if len(fields) != 2:
        sys.exit(f"not a pair: {line.strip()[:80]!r}")
    return potion.tokens(fields[0]), potion.tokens(fields[1])


def train(model, pairs, language, stemmer, least):
    """Learns a `wordtable.Table` from pairs of token lists."""
    foreign = collections.Counter(word for x, _ in pairs for word in x)
    english = collections.Counter(word for _, y in pairs for word in y)
    copied = collections.Counter(word for x, y in pairs for word in x if word in set(y))
    words = [
        word
        for word, count in foreign.most_common()
        if potion.is_word(word) and count >= least and copied[word] / count < COPIED
    ]
    if not words:
        sys.exit("no word occurs often enough to learn anything")
    counts = np.array([foreign[word] for word in words])
    scores = log_odds(foreign, english)
    kept = set(words) | {word for word, _ in english.most_common(N_ENGLISH)}
    rows = learn_rows(model, pairs, words, [copied[word] / foreign[word] for word in words])
    return wordtable.Table(
        language=language,
        stemmer=stemmer,
        words=words,
        rows=rows,
        counts=counts,
        stems=stems_of(words, stemmer),
        scores={word: score for word, score in scores.items() if word in kept},
        rewrites=rewrites.learn(model, words, rows, counts),
    )


def log_odds(foreign, english):
    """log P(word | language) - log P(word | English) for each word of two occurrences."""
    n_foreign, n_english = sum(foreign.values()), sum(english.values())
    scores = {}
    for word in set(foreign) | set(english):
        if potion.is_word(word) and foreign[word] + english[word] > 1:
            odds = np.log((foreign[word] + 0.3) / n_foreign) - np.log((english[word] + 0.3) / n_english)
            scores[word] = float(np.clip(odds, -MAX_SCORE, MAX_SCORE))
    return scores


def stems_of(words, algorithm):
    if not algorithm:
        return list(words)
    import snowballstemmer

    stemmer = snowballstemmer.stemmer(algorithm)
    return [potion.fold(stemmer.stemWord(word)) for word in words]


def learn_rows(model, pairs, words, copy_rates):
    """Weighted ridge regression: the rows of a sentence's words add up to the rows of its
    translation. The first solution shrinks to zero; a character n-gram model of it is the
    prior of the second, so that rare words lean on words spelt like them."""
    matrix, targets, weights = equations(model, pairs, {word: i for i, word in enumerate(words)})
    is_copied = np.array(copy_rates)[:, None] > COPY_PRIOR
    prior = np.where(is_copied, [model.vector(word) * rate for word, rate in zip(words, copy_rates)], 0)
    prior = prior.astype(np.float32)
    ridge = np.full(len(words), RIDGE, np.float32)
    first = solve(matrix, weights, targets, ridge, prior)
    evidence = np.asarray(matrix.T.multiply(matrix.T) @ weights).ravel()
    grams = ngram_matrix(words)
    ngram_ridge = np.full(grams.shape[1], NGRAM_RIDGE, np.float32)
    start = np.zeros((grams.shape[1], first.shape[1]), np.float32)
    model_of_spelling = solve(grams, (evidence / (evidence + 0.5)).astype(np.float32), first, ngram_ridge, start)
    prior = np.where(is_copied, prior, grams @ model_of_spelling).astype(np.float32)
    return solve(matrix, weights, targets, ridge, prior)


def equations(model, pairs, place):
    """One row per pair: how often each word occurs, and what they should add up to. What has
    no row of its own passes through word pieces on both sides and is taken off the target."""
    entries, targets, weights = [], [], []
    for x, y in pairs:
        known = collections.Counter(place[word] for word in x if word in place)
        target = sum((model.vector(word) for word in y), np.zeros(model.rows.shape[1], np.float32))
        if not known or not any(model.ids(word) for word in y):
            continue
        for word in x:
            if word not in place:
                target = target - model.vector(word)
        entries += [(len(targets), i, n) for i, n in known.items()]
        targets.append(target)
        weights.append(1 / (known.total() + 0.5))
    rows, columns, values = (np.array(part) for part in zip(*entries))
    shape = (len(targets), len(place))
    matrix = scipy.sparse.csr_matrix((values.astype(np.float32), (rows, columns)), shape)
    return matrix, np.array(targets, np.float32), np.array(weights, np.float32)


def solve(matrix, weights, targets, ridge, prior):
    """min over X: sum_i w_i |A_i X - B_i|^2 + sum_j ridge_j |X_j - prior_j|^2, by conjugate
    gradients with the diagonal as preconditioner, all columns at once."""
    transposed = matrix.T.tocsr()
    diagonal = (np.asarray(transposed.multiply(transposed) @ weights).ravel() + ridge)[:, None]
    rest = transposed @ ((targets - matrix @ prior) * weights[:, None])
    change = np.zeros_like(prior)
    scaled = rest / diagonal
    direction, energy = scaled.copy(), (rest * scaled).sum(0)
    for _ in range(ITERATIONS):
        image = transposed @ ((matrix @ direction) * weights[:, None]) + ridge[:, None] * direction
        step = energy / np.maximum((direction * image).sum(0), 1e-12)
        change += step * direction
        rest -= step * image
        scaled = rest / diagonal
        last, energy = energy, (rest * scaled).sum(0)
        direction = scaled + energy / np.maximum(last, 1e-20) * direction
    return prior + change


def ngram_matrix(words):
    """Which hashed character 3- to 5-grams each word has, its ends marked."""
    rows, columns = [], []
    for i, word in enumerate(words):
        marked = f"<{word}>"
        grams = [marked[at : at + n] for n in (3, 4, 5) for at in range(len(marked) - n + 1)]
        rows += [i] * len(grams)
        columns += [wordtable.hash_key(gram) % NGRAM_BUCKETS for gram in grams]
    return scipy.sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), (len(words), NGRAM_BUCKETS))


if __name__ == "__main__":
    main()
