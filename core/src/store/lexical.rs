//! BM25 over the snapshot's postings, at chunk and at note level in one pass.
//!
//! The formula is Robertson's BM25 with weighted field frequencies, as FTS5 has
//! it, but for an inverse document frequency that stays positive: in a vault of
//! ten notes a word that six of them have still says something. A chunk's score
//! can be mixed with that of its whole note, whose frequencies are the sums over
//! its chunks: a note is more than its best chunk.

use super::segment::tf_table;

/// A term of the query and what it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedTerm {
    /// The analysed term.
    pub term: String,
    /// Factor on the term's score.
    pub weight: f32,
}

/// The constants of the keyword score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalParams {
    /// Saturation of a term's frequency in a chunk.
    pub k1: f32,
    /// Share of length normalisation for a chunk, 0 to 1.
    pub b: f32,
    /// Saturation of a term's frequency in a note.
    pub note_k1: f32,
    /// Share of length normalisation for a note, 0 to 1.
    pub note_b: f32,
    /// Weight of the note's score beside the chunk's.
    pub note_weight: f32,
    /// Weight of an occurrence in the text, in the section's headings, and in
    /// title, aliases, file name or tags.
    pub field_weights: [f32; 3],
}

impl Default for LexicalParams {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            note_k1: 1.2,
            note_b: 0.75,
            note_weight: 0.0,
            field_weights: [1.0, 0.5, 0.3],
        }
    }
}

/// Documents scored per step: their accumulators stay in the first-level
/// cache, and no fresh memory is touched however large the index is.
const WINDOW: usize = 2_048;

/// Figures over all segments that the formula needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) n_docs: u32,
    pub(super) n_notes: u32,
    pub(super) total_len: u64,
}

/// One term's postings in one segment, with its factors over all segments.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TermPostings {
    pub(super) data: Vec<u8>,
    /// Query weight times inverse document frequency of chunks.
    pub(super) chunk_factor: f32,
    /// Query weight times inverse document frequency of notes.
    pub(super) note_factor: f32,
}

/// Inverse document frequency, above 0 whatever `df` is.
pub(super) fn idf(n: u32, df: u32) -> f32 {
    let (n, df) = (f64::from(n), f64::from(df.min(n)));
    ((n - df + 0.5) / (df + 0.5)).ln_1p() as f32
}

/// The scores of one document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scores {
    /// Chunk score plus weighted note score.
    pub(super) total: f32,
    /// The chunk's own.
    pub(super) chunk: f32,
}

/// Scores every document that has a term, or whose note has one, and calls
/// `emit(doc, scores)` for each, in order. `lens` and `starts` are the segment's blocks put together.
pub(super) fn score(
    terms: &[TermPostings],
    lens: &[u8],
    starts: &[u8],
    totals: Totals,
    params: &LexicalParams,
    emit: &mut impl FnMut(u32, Scores),
) {
    let lens = lens.as_chunks::<2>().0;
    let n_docs = lens.len();
    let mut cursors: Vec<Cursor<'_>> = terms.iter().map(Cursor::new).collect();
    let tf = tf_table(params.field_weights[0], params.field_weights[1], params.field_weights[2]);
    let mut window = Window::new(totals, params);
    let mut first = 0;
    while first < n_docs {
        let Some(next) = cursors.iter().map(|cursor| cursor.doc).min() else { return };
        if next as usize >= n_docs {
            return;
        }
        // Skip to the note of the next posting, but never back.
        first = note_start(starts, next as usize).max(first);
        let mut end = (first + WINDOW).min(n_docs);
        if end < n_docs {
            let start = note_start(starts, end);
            // A note longer than a window is cut; its parts count as notes.
            end = if start > first { start } else { end };
        }
        window.run(&mut cursors, first..end, lens, starts, &tf);
        for doc in first..end {
            let chunk = window.chunk[doc - first];
            let note = window.note[usize::from(window.note_of[doc - first])];
            if chunk > 0.0 || note > 0.0 {
                let total = chunk + params.note_weight * note;
                emit(doc as u32, Scores { total, chunk });
            }
        }
        first = end;
    }
}

/// Returns the first document of the note that `doc` belongs to.
fn note_start(starts: &[u8], doc: usize) -> usize {
    let mut start = doc;
    while start > 0 && !has_bit(starts, start) {
        start -= 1;
    }
    start
}

pub(super) fn has_bit(bits: &[u8], n: usize) -> bool {
    bits.get(n / 8).is_some_and(|byte| byte >> (n % 8) & 1 == 1)
}

/// Accumulators for a run of documents that begins with a note.
struct Window {
    chunk: [f32; WINDOW],
    note: [f32; WINDOW],
    note_of: [u16; WINDOW],
    /// Frequency of the term in hand in each note; zeros between terms.
    note_tf: [f32; WINDOW],
    chunk_norm: [f32; WINDOW],
    note_norm: [f32; WINDOW],
    k1: f32,
    note_k1: f32,
    chunk_norms: (f32, f32),
    note_norms: (f32, f32),
    with_notes: bool,
}

impl Window {
    fn new(totals: Totals, params: &LexicalParams) -> Box<Self> {
        let mean = |n: u32| (totals.total_len as f32 / n.max(1) as f32).max(1.0);
        let norms = |k1: f32, b: f32, mean: f32| (k1 * (1.0 - b), k1 * b / mean);
        Box::new(Self {
            chunk: [0.0; WINDOW],
            note: [0.0; WINDOW],
            note_of: [0; WINDOW],
            note_tf: [0.0; WINDOW],
            chunk_norm: [0.0; WINDOW],
            note_norm: [0.0; WINDOW],
            k1: params.k1,
            note_k1: params.note_k1,
            chunk_norms: norms(params.k1, params.b, mean(totals.n_docs)),
            note_norms: norms(params.note_k1, params.note_b, mean(totals.n_notes)),
            with_notes: params.note_weight > 0.0,
        })
    }

    fn run(
        &mut self,
        cursors: &mut [Cursor<'_>],
        docs: std::ops::Range<usize>,
        lens: &[[u8; 2]],
        starts: &[u8],
        tf: &[f32; 256],
    ) {
        self.prepare(docs.clone(), lens, starts);
        for cursor in cursors {
            self.add_term(cursor, &docs, tf);
        }
    }

    /// Clears the accumulators and computes the length norms.
    fn prepare(&mut self, docs: std::ops::Range<usize>, lens: &[[u8; 2]], starts: &[u8]) {
        let n = docs.len();
        self.chunk[..n].fill(0.0);
        self.note[..n].fill(0.0);
        let (mut note, mut note_len) = (0_u16, 0.0_f32);
        for (at, doc) in docs.enumerate() {
            if at > 0 && has_bit(starts, doc) {
                self.note_norm[usize::from(note)] =
                    self.note_norms.0 + self.note_norms.1 * note_len;
                note += 1;
                note_len = 0.0;
            }
            let len = f32::from(u16::from_le_bytes(lens[doc]));
            note_len += len;
            self.note_of[at] = note;
            self.chunk_norm[at] = self.chunk_norms.0 + self.chunk_norms.1 * len;
        }
        self.note_norm[usize::from(note)] = self.note_norms.0 + self.note_norms.1 * note_len;
    }

    /// Adds one term's scores and moves its cursor past the window.
    ///
    /// Every posting of the query passes here. Positions are masked, which
    /// changes none (a window has at most [`WINDOW`] documents) and saves the
    /// check of each.
    fn add_term(
        &mut self,
        cursor: &mut Cursor<'_>,
        docs: &std::ops::Range<usize>,
        tf: &[f32; 256],
    ) {
        let (chunk_factor, note_factor) =
            (cursor.chunk_factor * (self.k1 + 1.0), cursor.note_factor * (self.note_k1 + 1.0));
        let (start, end) = (docs.start as u32, docs.end as u32);
        if cursor.doc >= end {
            return;
        }
        let first = (cursor.doc - start) as usize & (WINDOW - 1);
        let mut last = first;
        // A copy, so that it is kept in registers.
        let mut here = *cursor;
        while here.doc < end {
            let at = (here.doc - start) as usize & (WINDOW - 1);
            let tf = tf[usize::from(here.code)];
            here.advance();
            self.chunk[at] += chunk_factor * tf / (tf + self.chunk_norm[at]);
            self.note_tf[usize::from(self.note_of[at]) & (WINDOW - 1)] += tf;
            last = at;
        }
        *cursor = here;
        let notes = usize::from(self.note_of[first])..=usize::from(self.note_of[last]);
        let (Some(note_tf), Some(scores), Some(norms)) = (
            self.note_tf.get_mut(notes.clone()),
            self.note.get_mut(notes.clone()),
            self.note_norm.get(notes),
        ) else {
            return;
        };
        if self.with_notes {
            // All of them, whether or not they have the term: no branch to guess.
            for ((score, tf), norm) in scores.iter_mut().zip(&*note_tf).zip(norms) {
                *score += if *tf > 0.0 { note_factor * tf / (tf + norm) } else { 0.0 };
            }
        }
        note_tf.fill(0.0);
    }
}

/// A position in a posting list.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    /// The document it stands on; `u32::MAX` after the last.
    doc: u32,
    /// That document's frequency code.
    code: u8,
    next: u32,
    codes: &'a [u8],
    /// The gaps of this page, then the pages after it.
    rest: &'a [u8],
    chunk_factor: f32,
    note_factor: f32,
}

impl<'a> Cursor<'a> {
    fn new(term: &'a TermPostings) -> Self {
        let mut cursor = Self {
            doc: 0,
            code: 0,
            next: 0,
            codes: &[],
            rest: &term.data,
            chunk_factor: term.chunk_factor,
            note_factor: term.note_factor,
        };
        cursor.advance();
        cursor
    }

    /// Moves to the next posting; a malformed list ends there.
    #[inline(always)]
    fn advance(&mut self) {
        if self.codes.is_empty() {
            (self.next, self.codes, self.rest) = next_page(self.rest);
        }
        let (Some((code, codes)), Some((first, rest))) =
            (self.codes.split_first(), self.rest.split_first())
        else {
            self.doc = u32::MAX;
            return;
        };
        (self.codes, self.rest) = (codes, rest);
        let mut gap = u32::from(*first);
        if gap == 255 {
            let Some((wide, rest)) = self.rest.split_first_chunk::<2>() else {
                self.doc = u32::MAX;
                self.codes = &[];
                self.rest = &[];
                return;
            };
            gap = u32::from(u16::from_le_bytes(*wide));
            self.rest = rest;
        }
        self.doc = self.next.saturating_add(gap);
        self.next = self.doc.saturating_add(1);
        self.code = *code;
    }
}

/// Reads the head of a page: its first document, its codes, what follows them;
/// nothing where there is no page.
#[cold]
fn next_page(rest: &[u8]) -> (u32, &[u8], &[u8]) {
    let page = rest.split_first_chunk::<4>().and_then(|(head, rest)| {
        let n = usize::from(u16::from_le_bytes([head[2], head[3]])) + 1;
        rest.split_at_checked(n).map(|(codes, rest)| (head, codes, rest))
    });
    let Some((head, codes, rest)) = page else { return (0, &[], &[]) };
    (u32::from(u16::from_le_bytes([head[0], head[1]])) << 16, codes, rest)
}

/// Keeps the best `k` of what is pushed: higher score first, then lower id.
#[derive(Debug)]
pub(super) struct Top<T> {
    k: usize,
    items: Vec<(f32, u32, T)>,
    threshold: f32,
}

impl<T: Copy> Top<T> {
    pub(super) fn new(k: usize) -> Self {
        Self { k, items: Vec::with_capacity(2 * k), threshold: f32::MIN }
    }

    /// The score below which nothing is kept.
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    pub(super) fn push(&mut self, score: f32, id: u32, item: T) {
        // Equal scores are kept, so that the cut does not depend on when the
        // list was last shrunk.
        if score < self.threshold || self.k == 0 {
            return;
        }
        self.items.push((score, id, item));
        if self.items.len() >= 2 * self.k {
            self.items.select_nth_unstable_by(self.k - 1, order);
            self.items.truncate(self.k);
            self.threshold = self.items.iter().fold(f32::MAX, |low, item| low.min(item.0));
        }
    }

    pub(super) fn finish(mut self) -> Vec<(f32, u32, T)> {
        self.items.sort_unstable_by(order);
        self.items.truncate(self.k);
        self.items
    }
}

fn order<T>(a: &(f32, u32, T), b: &(f32, u32, T)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes one page of postings below document 65,536.
    fn page(postings: &[(u16, u8)]) -> Vec<u8> {
        let mut out = vec![0, 0];
        out.extend(((postings.len() - 1) as u16).to_le_bytes());
        out.extend(postings.iter().map(|(_, code)| *code));
        let mut next = 0;
        for (doc, _) in postings {
            out.push(255);
            out.extend((doc - next).to_le_bytes());
            next = doc + 1;
        }
        out
    }

    fn run(
        terms: &[TermPostings],
        lens: &[u16],
        note_starts: &[usize],
        params: &LexicalParams,
    ) -> Vec<(u32, Scores)> {
        let bytes: Vec<u8> = lens.iter().flat_map(|len| len.to_le_bytes()).collect();
        let mut starts = vec![0; lens.len().div_ceil(8)];
        for start in note_starts {
            starts[start / 8] |= 1 << (start % 8);
        }
        let totals = Totals {
            n_docs: lens.len() as u32,
            n_notes: note_starts.len() as u32,
            total_len: lens.iter().map(|len| u64::from(*len)).sum(),
        };
        let mut out = Vec::new();
        score(terms, &bytes, &starts, totals, params, &mut |doc, scores| {
            if scores.chunk > 0.0 {
                out.push((doc, scores));
            }
        });
        out
    }

    #[test]
    fn scores_follow_the_bm25_formula() {
        let terms = [TermPostings { data: page(&[(1, 2)]), chunk_factor: 1.5, note_factor: 0.0 }];
        let scores = run(&terms, &[10, 30], &[0, 1], &LexicalParams::default());
        let norm = 1.2 * (0.25 + 0.75 * 30.0 / 20.0);
        let expected = 1.5 * 2.2 * 2.0 / (2.0 + norm);
        assert_eq!(scores.len(), 1);
        assert_eq!(scores[0].0, 1);
        assert!((scores[0].1.chunk - expected).abs() < 1e-5);
    }

    #[test]
    fn a_note_counts_the_terms_of_all_its_chunks() {
        let term =
            |doc| TermPostings { data: page(&[(doc, 1)]), chunk_factor: 1.0, note_factor: 1.0 };
        let params = LexicalParams { note_weight: 1.0, ..LexicalParams::default() };
        // Two terms in two chunks of one note, against the same in two notes.
        let together = run(&[term(0), term(1)], &[10; 4], &[0, 2], &params);
        let apart = run(&[term(1), term(2)], &[10; 4], &[0, 2], &params);
        assert_eq!(together[0].1.chunk, apart[0].1.chunk);
        assert!(together[0].1.total > apart[0].1.total + 0.3);
    }

    #[test]
    fn windows_do_not_change_the_scores() {
        // One note every 3 documents, every 5th document a hit, over several
        // windows and more than one range.
        let n = 70_000_u32;
        let mut data = Vec::new();
        for range in 0..2_u32 {
            let docs: Vec<u32> = (0..n).filter(|doc| doc % 5 == 0 && doc >> 16 == range).collect();
            data.extend((range as u16).to_le_bytes());
            data.extend(((docs.len() - 1) as u16).to_le_bytes());
            data.extend(docs.iter().map(|_| 1_u8));
            data.extend(
                docs.iter().map(|doc| if *doc & 0xffff < 5 { (*doc & 0xffff) as u8 } else { 4 }),
            );
        }
        let terms = [TermPostings { data, chunk_factor: 1.0, note_factor: 1.0 }];
        let starts: Vec<usize> = (0..n as usize).step_by(3).collect();
        let params = LexicalParams { note_weight: 0.5, ..LexicalParams::default() };
        let scores = run(&terms, &vec![7; n as usize], &starts, &params);
        assert_eq!(scores.len(), n as usize / 5);
        for (doc, score) in &scores {
            assert_eq!(doc % 5, 0);
            assert_eq!(*score, scores[0].1, "document {doc}");
        }
    }

    #[test]
    fn top_keeps_the_best_and_breaks_ties_by_id() {
        let mut top = Top::new(3);
        for (score, id) in [(1.0, 9), (2.0, 8), (1.0, 3), (1.0, 4), (3.0, 7), (1.0, 2), (0.5, 1)] {
            top.push(score, id, ());
        }
        let ids: Vec<u32> = top.finish().iter().map(|item| item.1).collect();
        assert_eq!(ids, [7, 8, 2]);
    }

    #[test]
    fn malformed_postings_end_the_list() {
        for data in [vec![1], vec![0, 0, 9, 0, 1, 0], vec![]] {
            let terms = [TermPostings { data, chunk_factor: 1.0, note_factor: 1.0 }];
            assert!(run(&terms, &[1; 3], &[0], &LexicalParams::default()).is_empty());
        }
    }
}
