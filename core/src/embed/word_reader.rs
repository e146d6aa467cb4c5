//! The vectors of single words, of which a query looks at a thousand.

use super::coarse::{Asked, Code, Sum};
use super::potion::Potion;
use super::reading::read_line;
use super::words::{Rows, WordTable};
use crate::model::{DIM, Vector};

/// Reads words of one language, one after the other.
pub struct WordReader<'a> {
    potion: &'a Potion,
    table: Option<&'a WordTable>,
    /// The word in hand: rows of the table, ids of word pieces.
    rows: Vec<Rows>,
    ids: Vec<u32>,
    sum: Sum,
}

impl<'a> WordReader<'a> {
    pub(super) fn new(potion: &'a Potion, table: Option<&'a WordTable>) -> Self {
        Self { potion, table, rows: Vec::new(), ids: Vec::new(), sum: Sum::new() }
    }

    /// Returns the vector of a folded word, not brought to unit length; all
    /// zeros when nothing in it is known.
    pub fn vector(&mut self, folded: &str) -> Vector {
        self.read(folded);
        let mut vector = [0.0; DIM];
        if let Some(table) = self.table {
            self.rows.iter().for_each(|rows| table.add(*rows, false, &mut vector));
        }
        // Read from the file: a thousand scattered words would fault in all of
        // the mapping.
        self.potion.add_rows(&self.ids, false, &mut vector);
        vector
    }

    /// Returns what the cosine of a folded word with each that is asked for is
    /// at most, at a fraction of the cost of the vector; none where it is near
    /// nothing, and 2 where nothing is known without the vector.
    pub fn bounds(&mut self, folded: &str, asked: &Asked) -> &[f32] {
        self.read(folded);
        let Self { potion, table, rows, ids, sum } = self;
        sum.clear(asked);
        if let Some(table) = table {
            for rows in rows {
                table.each_code(*rows, &mut |code| sum.add(code, asked));
            }
        }
        for id in ids.iter().filter(|id| !potion.is_unknown(**id)) {
            match potion.code(*id) {
                Some(code) => sum.add(code, asked),
                None => sum.add(Code::ANY, asked),
            }
        }
        sum.bounds()
    }

    fn read(&mut self, folded: &str) {
        let Self { potion, table, rows, ids, .. } = self;
        rows.clear();
        ids.clear();
        match table {
            Some(table) => read_line(folded, potion, table, ids, |read| rows.push(read)),
            None => potion.pieces().encode_token(folded, ids),
        }
    }
}
