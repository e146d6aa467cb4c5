//! A hash index that is used where it lies in a file: bucket starts, and the
//! entries they point into.

/// Fingerprint (u32), position (u24), a small number (i8).
const ENTRY_SIZE: usize = 8;

/// A hash index as it lies in the file.
#[derive(Clone, Copy)]
pub(super) struct Index<'a> {
    starts: &'a [[u8; 4]],
    entries: &'a [[u8; ENTRY_SIZE]],
    bits: u32,
}

impl<'a> Index<'a> {
    /// Takes the two parts; a damaged part finds nothing.
    pub(super) fn new(starts: &'a [u8], entries: &'a [u8]) -> Self {
        let (starts, entries) = (starts.as_chunks().0, entries.as_chunks().0);
        let bits = starts.len().saturating_sub(1).checked_ilog2().unwrap_or(0);
        Self { starts, entries, bits }
    }

    /// Finds a key's entry: its three-byte and its one-byte field.
    pub(super) fn find(&self, key: Hash) -> Option<(u32, i8)> {
        let hash = key.finish();
        let bucket = hash.checked_shr(64 - self.bits).unwrap_or(0) as usize;
        let start = |bucket: usize| self.starts.get(bucket).map(|at| u32::from_le_bytes(*at));
        let range = start(bucket)? as usize..start(bucket + 1)? as usize;
        let fingerprint = (hash >> (32 - self.bits)) as u32;
        let mut bucket = self.entries.get(range)?.iter().map(|entry| u64::from_le_bytes(*entry));
        let entry = bucket.find(|entry| *entry as u32 == fingerprint)?;
        Some(((entry >> 32) as u32 & 0xFF_FFFF, ((entry >> 56) as u8).cast_signed()))
    }
}

/// The hash of a key, fed byte by byte: FNV-1a, then MurmurHash3's 64-bit
/// finaliser, because the buckets go by the upper bits and FNV mixes those
/// least.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

impl Hash {
    pub(super) const EMPTY: Self = Self(0xCBF2_9CE4_8422_2325);

    pub(super) fn of(key: &str) -> Self {
        key.bytes().fold(Self::EMPTY, Self::with)
    }

    #[inline]
    pub(super) fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
    }

    fn finish(self) -> u64 {
        let hash = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        hash ^ (hash >> 33)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_the_training_program_uses() {
        assert_eq!(Hash::of("").finish(), 0xEFD0_1F60_BA99_2926);
        assert_eq!(Hash::of("seguridad").finish(), 0x6829_7934_5F2C_325F);
    }

    #[test]
    fn entries_are_found_by_their_hash_and_nothing_in_an_empty_index() {
        let hash = Hash::of("a").finish();
        let mut entry = ((hash >> 32) as u32).to_le_bytes().to_vec();
        entry.extend([7, 1, 0, 0xFE]);
        let starts = [[0; 4], 1_u32.to_le_bytes()].concat();
        let index = Index::new(&starts, &entry);
        assert_eq!(index.find(Hash::of("a")), Some((263, -2)));
        assert_eq!(index.find(Hash::of("b")), None);
        assert_eq!(Index::new(&[], &[]).find(Hash::of("a")), None);
    }
}
