//! Vectors in 8 bits with a bound on their error: enough to tell, at a tenth of
//! the cost, that a word has nothing to do with any of a few others.
//!
//! Most words of a passage are related to no word of a query. Their exact rows
//! are 1 KB each, scattered over 30 MB; the codes are a quarter of that, and
//! whole numbers multiply faster.
#![allow(unsafe_code, reason = "one SIMD kernel, with a portable twin")]

use crate::model::{DIM, Vector};

/// Bytes of a code in a file: scale (`f32`), error (`f32`), values (`i8`).
pub(super) const CODE_SIZE: usize = 8 + DIM;

/// Share of a vector's length that rounding of the other side and of sums can
/// add to a dot product: at most 8/32,767 for the former (half a step in each
/// of 256 dimensions), a millionth for the latter.
const SLACK: f32 = 0.001;

/// The largest value of an [`Asked`] word; 256 products with an `i8` fit an
/// `i32`.
const MAX_VALUE: f32 = 32_767.0;

/// A row in 8 bits.
#[derive(Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) scale: f32,
    /// Length of the difference between the row and `scale * values`.
    pub(super) error: f32,
    /// `i8`.
    pub(super) values: &'a [u8; DIM],
}

impl<'a> Code<'a> {
    /// A row of which nothing is known.
    pub(super) const ANY: Self = Self { scale: 0.0, error: f32::INFINITY, values: &[0; DIM] };

    /// Reads what [`encode`] wrote.
    pub(super) fn from_bytes(bytes: &'a [u8; CODE_SIZE]) -> Self {
        let [s0, s1, s2, s3, e0, e1, e2, e3, values @ ..] = bytes;
        Self {
            scale: f32::from_le_bytes([*s0, *s1, *s2, *s3]),
            error: f32::from_le_bytes([*e0, *e1, *e2, *e3]),
            values,
        }
    }
}

/// Encodes a row.
pub(super) fn encode(row: &Vector) -> [u8; CODE_SIZE] {
    let max = row.iter().fold(0.0_f32, |max, value| max.max(value.abs()));
    let scale = if max > 0.0 { max / 127.0 } else { 1.0 };
    let values = row.map(|value| (value / scale).round() as i8);
    let square: f64 = row
        .iter()
        .zip(values)
        .map(|(value, code)| (f64::from(*value) - f64::from(scale) * f64::from(code)).powi(2))
        .sum();
    // Rounded up.
    let error = (square.sqrt() * 1.000_001) as f32;
    let mut bytes = [0; CODE_SIZE];
    bytes[..4].copy_from_slice(&scale.to_le_bytes());
    bytes[4..8].copy_from_slice(&error.to_le_bytes());
    bytes[8..].copy_from_slice(&values.map(i8::cast_unsigned));
    bytes
}

/// The unit vectors that words are compared with, in 16 bits.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    words: Vec<Word>,
}

/// A word's values and the size of one.
type Word = ([i16; DIM], f32);

impl Asked {
    /// Takes the vectors, each of unit length.
    pub fn new<'v>(vectors: impl Iterator<Item = &'v Vector>) -> Self {
        let encode = |vector: &Vector| {
            let max = vector.iter().fold(1e-20_f32, |max, value| max.max(value.abs()));
            let step = max / MAX_VALUE;
            (vector.map(|value| (value / step).round() as i16), step)
        };
        Self { words: vectors.map(encode).collect() }
    }
}

/// A sum of rows, known to within an error.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    vector: Vector,
    error: f32,
    n_rows: usize,
    /// Dot product with each word that is asked for.
    dots: Vec<f32>,
}

impl Sum {
    pub(super) fn new() -> Self {
        Self { vector: [0.0; DIM], error: 0.0, n_rows: 0, dots: Vec::new() }
    }

    pub(super) fn clear(&mut self, asked: &Asked) {
        self.error = 0.0;
        self.n_rows = 0;
        self.dots.clear();
        self.dots.resize(asked.words.len(), 0.0);
    }

    pub(super) fn add(&mut self, code: Code<'_>, asked: &Asked) {
        if self.n_rows == 0 {
            self.vector = [0.0; DIM];
        }
        for (sum, value) in self.vector.iter_mut().zip(code.values) {
            *sum += f32::from(value.cast_signed()) * code.scale;
        }
        let words = self.dots.iter_mut().zip(&asked.words);
        each_dot(code.values, words, |(sum, (_, step)), dot| {
            *sum += code.scale * step * dot as f32;
        });
        self.error += code.error;
        self.n_rows += 1;
    }

    /// Returns what the cosine of the exact sum with each word is at most; none
    /// where no row was added, which is near nothing.
    ///
    /// The exact sum `v` is within `error` of this one, `u`; so for a unit
    /// vector `w`, `v·w <= u·w + error` and `|v| >= |u| - error`.
    pub(super) fn bounds(&mut self) -> &[f32] {
        if self.n_rows == 0 {
            return &[];
        }
        let length = length(&self.vector);
        let shortest = length - self.error;
        let margin = self.error + SLACK * length;
        for dot in &mut self.dots {
            *dot = match *dot + margin {
                _ if shortest <= 0.0 => 2.0,
                most if most > 0.0 => most / shortest,
                most => most / (length + self.error),
            };
        }
        &self.dots
    }
}

/// Calls `emit` with the dot product of `values` (`i8`) with each word.
fn each_dot<'s, 'w>(
    values: &[u8; DIM],
    words: impl Iterator<Item = (&'s mut f32, &'w Word)>,
    mut emit: impl FnMut((&'s mut f32, &'w Word), i32),
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which was just asked.
        unsafe { each_dot_avx2(values, words, emit) };
        return;
    }
    for (sum, word) in words {
        let dot = dot(values, &word.0);
        emit((sum, word), dot);
    }
}

fn dot(a: &[u8; DIM], b: &[i16; DIM]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(a.cast_signed()) * i32::from(*b)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn each_dot_avx2<'s, 'w>(
    values: &[u8; DIM],
    words: impl Iterator<Item = (&'s mut f32, &'w Word)>,
    mut emit: impl FnMut((&'s mut f32, &'w Word), i32),
) {
    use std::arch::x86_64::*;
    // SAFETY: 16 unaligned loads of 16 bytes inside an array of 256.
    let narrow = |k: usize| unsafe { _mm_loadu_si128(values.as_ptr().wrapping_add(k * 16).cast()) };
    let values: [__m256i; DIM / 16] = std::array::from_fn(|k| _mm256_cvtepi8_epi16(narrow(k)));
    for (sum, word) in words {
        let mut dots = [_mm256_setzero_si256(); 2];
        for (k, value) in values.iter().enumerate() {
            // SAFETY: 16 unaligned loads of 16 values inside an array of 256.
            let other = unsafe { _mm256_loadu_si256(word.0.as_ptr().wrapping_add(k * 16).cast()) };
            dots[k % 2] = _mm256_add_epi32(dots[k % 2], _mm256_madd_epi16(*value, other));
        }
        let wide = _mm256_add_epi32(dots[0], dots[1]);
        let half = _mm_add_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
        let half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
        let half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
        emit((sum, word), _mm_cvtsi128_si32(half));
    }
}

fn length(vector: &Vector) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for values in vector.as_chunks::<8>().0 {
        lanes.iter_mut().zip(values).for_each(|(lane, value)| *lane += value * value);
    }
    lanes.iter().sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic vector whose first dimensions are the largest, as those
    /// of a principal component analysis are.
    fn sample(seed: u32) -> Vector {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
        std::array::from_fn(|d| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / 16_777_216.0 - 0.5) * 4.0 / (1.0 + d as f32 / 8.0)
        })
    }

    fn unit(vector: Vector) -> Vector {
        let length = length(&vector);
        vector.map(|value| value / length)
    }

    fn cosine(a: &Vector, b: &Vector) -> f32 {
        unit(*a).iter().zip(unit(*b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn no_cosine_is_above_what_the_codes_allow() {
        let words: Vec<Vector> = (0..12).map(|seed| unit(sample(seed))).collect();
        let asked = Asked::new(words.iter());
        let mut sum = Sum::new();
        for seed in 100..2_000 {
            let rows = [sample(seed), sample(seed + 5_000)];
            let rows = &rows[..1 + seed as usize % 2];
            let exact: Vector = std::array::from_fn(|d| rows.iter().map(|row| row[d]).sum());
            sum.clear(&asked);
            for row in rows {
                sum.add(Code::from_bytes(&encode(row)), &asked);
            }
            for (word, most) in words.iter().zip(sum.bounds()) {
                let exact = cosine(word, &exact);
                assert!((exact..exact + 0.1).contains(most), "{exact} {most}");
            }
        }
    }

    #[test]
    fn the_kernels_agree() {
        let asked = Asked::new((0..3).map(|seed| unit(sample(seed))).collect::<Vec<_>>().iter());
        for seed in 10..60 {
            let bytes = encode(&sample(seed));
            let code = Code::from_bytes(&bytes);
            let mut sums = [0.0; 3];
            let mut n = 0;
            each_dot(code.values, sums.iter_mut().zip(&asked.words), |(_, word), found| {
                assert_eq!(found, dot(code.values, &word.0));
                n += 1;
            });
            assert_eq!(n, 3);
        }
    }

    #[test]
    fn a_zero_row_and_no_row_are_near_nothing() {
        let asked = Asked::new([unit(sample(1))].iter());
        let mut sum = Sum::new();
        sum.clear(&asked);
        assert_eq!(sum.bounds(), [0.0; 0]);
        let bytes = encode(&[0.0; DIM]);
        let code = Code::from_bytes(&bytes);
        assert_eq!((code.error, code.values), (0.0, &[0; DIM]));
    }
}
