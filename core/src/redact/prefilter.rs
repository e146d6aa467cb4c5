//! Finds where a key of the tables stands, in one pass that needs no set-up.
//!
//! Every key has at least three bytes. A bit per hashed trigram says whether a
//! key may begin here; a chain per bucket names the keys to compare. Both
//! tables are computed by the compiler, so a hook that starts, looks at a
//! passage without candidates and ends pays for nothing but the pass, where an
//! Aho-Corasick automaton would have to be built at each start.

use super::table::ROWS;
use super::words::{CUES, Cue};

/// What a key belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// A row of the shape table.
    Row(u16),
    /// A cue of the word table.
    Cue(Cue),
}

#[derive(Clone, Copy)]
struct Key {
    text: &'static str,
    owner: Owner,
    /// Index of the next key in the same bucket plus one; 0 ends the chain.
    next: u16,
}

const N_KEYS: usize = n_keys();
const N_BUCKETS: usize = 1024;

struct Index {
    keys: [Key; N_KEYS],
    buckets: [u16; N_BUCKETS],
    bits: [u64; 1024],
}

static INDEX: Index = build();

const fn n_keys() -> usize {
    let mut n = CUES.len();
    let mut i = 0;
    while i < ROWS.len() {
        n += ROWS[i].keys.len();
        i += 1;
    }
    n
}

const fn build() -> Index {
    let empty = Key { text: "", owner: Owner::Row(0), next: 0 };
    let mut index = Index { keys: [empty; N_KEYS], buckets: [0; N_BUCKETS], bits: [0; 1024] };
    let mut n = 0;
    let mut i = 0;
    while i < ROWS.len() {
        let mut k = 0;
        while k < ROWS[i].keys.len() {
            add(&mut index, n, ROWS[i].keys[k], Owner::Row(i as u16));
            n += 1;
            k += 1;
        }
        i += 1;
    }
    i = 0;
    while i < CUES.len() {
        add(&mut index, n, CUES[i].0, Owner::Cue(CUES[i].1));
        n += 1;
        i += 1;
    }
    index
}

const fn add(index: &mut Index, n: usize, text: &'static str, owner: Owner) {
    let bytes = text.as_bytes();
    let hash = hash(bytes[0] as u32 | (bytes[1] as u32) << 8 | (bytes[2] as u32) << 16);
    index.bits[hash / 64] |= 1 << (hash % 64);
    index.keys[n] = Key { text, owner, next: index.buckets[hash % N_BUCKETS] };
    index.buckets[hash % N_BUCKETS] = n as u16 + 1;
}

/// Hashes three bytes, ASCII case folded, to 16 bits.
const fn hash(trigram: u32) -> usize {
    ((trigram | 0x0020_2020).wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// Calls `found` with every key and the offset it begins at, in text order.
pub(super) fn scan(text: &[u8], mut found: impl FnMut(usize, &'static str, Owner)) {
    let mut window = match text {
        [a, b, ..] => u32::from(*a) << 8 | u32::from(*b) << 16,
        _ => return,
    };
    for (at, byte) in text.iter().skip(2).enumerate() {
        window = window >> 8 | u32::from(*byte) << 16;
        let hash = hash(window);
        if INDEX.bits[hash / 64] >> (hash % 64) & 1 == 1 {
            candidates(text, at, hash, &mut found);
        }
    }
}

#[cold]
fn candidates(
    text: &[u8],
    at: usize,
    hash: usize,
    found: &mut impl FnMut(usize, &'static str, Owner),
) {
    let rest = text.get(at..).unwrap_or_default();
    let mut next = INDEX.buckets[hash % N_BUCKETS];
    while next != 0 {
        let key = &INDEX.keys[usize::from(next) - 1];
        let head = rest.get(..key.text.len()).unwrap_or_default();
        if head.eq_ignore_ascii_case(key.text.as_bytes()) {
            found(at, key.text, key.owner);
        }
        next = key.next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_in_any_case_at_any_place() {
        for key in &INDEX.keys {
            assert!(key.text.len() >= 3, "{} is too short", key.text);
            for (head, tail) in [("", ""), ("ñ ", "."), ("abc", "")] {
                let text = format!("{head}{}{tail}", key.text.to_uppercase());
                let mut hits = Vec::new();
                scan(text.as_bytes(), |at, text, _| hits.push((at, text)));
                assert!(hits.contains(&(head.len(), key.text)), "{} in {text}", key.text);
            }
        }
    }

    #[test]
    fn plain_prose_has_no_candidates() {
        let mut n = 0;
        scan("We met on Thursday and moved the plan.".as_bytes(), |_, _, _| n += 1);
        assert_eq!(n, 0);
    }
}
