//! One cheap hash for names, templates and check sums: the keys are short and
//! come from a program's own output.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// FNV-1a for bytes, a multiply and a rotation for numbers.
#[derive(Clone, Copy)]
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds one byte.
    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// A map keyed by small trusted values.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;

/// Hashes bytes.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut fnv = Fnv::default();
    fnv.write(bytes);
    fnv.finish()
}
