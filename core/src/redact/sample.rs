//! Synthetic credentials for tests, assembled at run time so that no scanner
//! takes this source for a leak.

/// A small generator of repeatable numbers (xorshift*).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// Fills in a recipe of the shape table: `{a36}` becomes 36 letters and digits.
pub(super) fn assemble(recipe: &str, seed: u64) -> String {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const DIGITS: &str = "0123456789";
    let mut dice = Dice::new(seed + 7);
    let mut out = String::new();
    let mut rest = recipe;
    while let Some((head, tail)) = rest.split_once('{') {
        out.push_str(head);
        let (code, tail) = tail.split_once('}').unwrap();
        let (letter, count) = code.split_at(1);
        let alphabet = match letter {
            "a" => format!("{LOWER}{UPPER}{DIGITS}"),
            "h" => "0123456789abcdef".to_owned(),
            "u" => format!("{UPPER}{DIGITS}"),
            "l" => format!("{LOWER}{DIGITS}"),
            "w" => format!("{LOWER}{UPPER}{DIGITS}_-"),
            "b" => format!("{LOWER}{UPPER}{DIGITS}+/"),
            "q" => format!("{UPPER}234567"),
            "z" => format!("{LOWER}234567"),
            "d" => DIGITS.to_owned(),
            _ => String::new(),
        };
        let alphabet = alphabet.as_bytes();
        for _ in 0..count.parse().unwrap_or(0) {
            out.push(char::from(dice.pick(alphabet)));
        }
        rest = tail;
    }
    out + rest
}
