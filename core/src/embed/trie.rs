//! A double-array trie from byte strings to ids, laid out so that it can be
//! used where it lies in a mapped file.
//!
//! Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array
//! Structure", 1989: child of node `n` by byte `b` is node `base[n] + b`, if
//! that node names `n` as its parent.

use std::collections::VecDeque;

/// One node as stored: base, parent, id, each a little-endian `u32`.
pub(super) type Node = [u8; 12];

/// Stands for "no id" and "no parent".
const NONE: u32 = u32::MAX;

/// A trie over borrowed nodes. Whatever the bytes are, lookups end and never
/// leave the slice.
#[derive(Clone, Copy)]
pub(super) struct Trie<'a> {
    pub(super) nodes: &'a [Node],
}

impl Trie<'_> {
    /// The node of the empty string.
    pub(super) const ROOT: u32 = 0;

    /// Finds the longest prefix of `bytes` that, appended to what leads to
    /// `node`, is a key; returns its id and length.
    pub(super) fn longest_prefix(&self, node: u32, bytes: &[u8]) -> Option<(u32, usize)> {
        let mut node = node;
        let mut found = None;
        for (position, byte) in bytes.iter().enumerate() {
            let Some(child) = self.child(node, *byte) else { break };
            node = child;
            let id = self.field(node, 2);
            if id != NONE {
                found = Some((id, position + 1));
            }
        }
        found
    }

    /// Returns the id of `bytes`, if it is a key.
    pub(super) fn exact(&self, bytes: &[u8]) -> Option<u32> {
        let node = self.walk(bytes)?;
        Some(self.field(node, 2)).filter(|id| *id != NONE)
    }

    /// Returns the node that `bytes` leads to, whether or not it is a key.
    pub(super) fn walk(&self, bytes: &[u8]) -> Option<u32> {
        bytes.iter().try_fold(Self::ROOT, |node, byte| self.child(node, *byte))
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let child = self.field(node, 0).wrapping_add(u32::from(byte));
        (self.field(child, 1) == node).then_some(child)
    }

    fn field(&self, node: u32, field: usize) -> u32 {
        let Some(node) = self.nodes.get(node as usize) else { return NONE };
        node.as_chunks::<4>().0.get(field).map_or(NONE, |bytes| u32::from_le_bytes(*bytes))
    }
}

/// Builds the nodes of a trie over distinct, non-empty keys.
pub(super) fn build(mut keys: Vec<(Vec<u8>, u32)>) -> Vec<Node> {
    keys.sort_unstable();
    let mut builder = Builder { nodes: vec![[0, NONE, NONE]], used: vec![true], first_free: 1 };
    let mut queue = VecDeque::from([Task { node: 0, depth: 0, start: 0, end: keys.len() }]);
    while let Some(task) = queue.pop_front() {
        builder.expand(&keys, task, &mut queue);
    }
    builder
        .nodes
        .iter()
        .map(|node| {
            let mut bytes = Node::default();
            for (place, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(node) {
                *place = value.to_le_bytes();
            }
            bytes
        })
        .collect()
}

/// A node whose children are still to be placed: the keys `start..end` share
/// the prefix of `depth` bytes that leads to it.
struct Task {
    node: u32,
    depth: usize,
    start: usize,
    end: usize,
}

struct Builder {
    nodes: Vec<[u32; 3]>,
    used: Vec<bool>,
    first_free: usize,
}

impl Builder {
    fn expand(&mut self, keys: &[(Vec<u8>, u32)], task: Task, queue: &mut VecDeque<Task>) {
        let Task { node, depth, mut start, end } = task;
        if keys.get(start).is_some_and(|(key, _)| start < end && key.len() == depth) {
            self.nodes[node as usize][2] = keys[start].1;
            start += 1;
        }
        let groups: Vec<&[(Vec<u8>, u32)]> =
            keys[start..end].chunk_by(|a, b| a.0[depth] == b.0[depth]).collect();
        let bytes: Vec<u8> = groups.iter().map(|group| group[0].0[depth]).collect();
        if bytes.is_empty() {
            return;
        }
        let base = self.place(&bytes);
        self.nodes[node as usize][0] = base as u32;
        for (byte, group) in bytes.iter().zip(groups) {
            let child = base + usize::from(*byte);
            self.used[child] = true;
            self.nodes[child][1] = node;
            queue.push_back(Task {
                node: child as u32,
                depth: depth + 1,
                start,
                end: start + group.len(),
            });
            start += group.len();
        }
    }

    /// Finds a base at which all of `bytes` (ascending) are free.
    ///
    /// The search starts where the nodes are no longer nearly full (19 of 20),
    /// the rule of Kudo's Darts: some places stay empty, but the search does
    /// not walk over the full part again and again.
    fn place(&mut self, bytes: &[u8]) -> usize {
        let lowest = usize::from(bytes[0]);
        // Base 0 would make child and root the same node for byte 0.
        let start = self.first_free.max(lowest + 1);
        let (mut at, mut n_full) = (start, 0);
        while !self.fits(at - lowest, bytes) {
            n_full += usize::from(self.is_used(at));
            at += 1;
        }
        if n_full * 20 >= (at - start + 1) * 19 {
            self.first_free = at;
        }
        let base = at - lowest;
        let n_nodes = self.nodes.len().max(base + 256);
        self.nodes.resize(n_nodes, [0, NONE, NONE]);
        self.used.resize(n_nodes, false);
        base
    }

    fn fits(&self, base: usize, bytes: &[u8]) -> bool {
        !bytes.iter().any(|byte| self.is_used(base + usize::from(*byte)))
    }

    fn is_used(&self, node: usize) -> bool {
        self.used.get(node) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trie_over(words: &[&str]) -> Vec<Node> {
        build(words.iter().zip(0..).map(|(word, id)| (word.as_bytes().to_vec(), id)).collect())
    }

    #[test]
    fn finds_each_key_and_nothing_else() {
        let words = ["a", "an", "and", "año", "##d", "##", "zoo"];
        let nodes = trie_over(&words);
        let trie = Trie { nodes: &nodes };
        for (word, id) in words.iter().zip(0..) {
            assert_eq!(trie.exact(word.as_bytes()), Some(id), "{word}");
        }
        for word in ["", "z", "zo", "zooo", "#", "b", "añ"] {
            assert_eq!(trie.exact(word.as_bytes()), None, "{word}");
        }
    }

    #[test]
    fn longest_prefix_takes_the_longest_key_behind_a_node() {
        let nodes = trie_over(&["##d", "##do", "an", "and"]);
        let trie = Trie { nodes: &nodes };
        assert_eq!(trie.longest_prefix(Trie::ROOT, b"andy"), Some((3, 3)));
        let continuation = trie.walk(b"##").unwrap();
        assert_eq!(trie.longest_prefix(continuation, b"dog"), Some((1, 2)));
        assert_eq!(trie.longest_prefix(continuation, b"x"), None);
    }

    #[test]
    fn damaged_nodes_end_in_no_match() {
        let trie = Trie { nodes: &[[0xFF; 12]; 3] };
        assert_eq!(trie.exact(b"abc"), None);
        assert_eq!(Trie { nodes: &[] }.longest_prefix(0, b"abc"), None);
    }
}
