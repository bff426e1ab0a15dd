//! Rows of small numbers, packed: each column in as many bits as its greatest number needs.
//!
//! Numbers of sites are given out in the order the sites are met, so the rows of early states hold
//! small numbers only. Widths are chosen anew for every chunk of rows.

/// How many rows a chunk has.
const CHUNK: usize = 1 << 16;

/// Rows of equal width in the order they were added. They are all there: nothing is hashed away.
pub(super) struct Packed {
    width: usize,
    full: Vec<Chunk>,
    /// The rows behind the full chunks, as they came.
    open: Vec<u32>,
}

/// Rows that were packed.
struct Chunk {
    /// How many bits each column has.
    bits: Box<[u8]>,
    /// How many bits a row has.
    row_bits: usize,
    /// The bits of all rows, and a word behind them, so that two words can always be read.
    words: Box<[u64]>,
}

impl Packed {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            full: Vec::new(),
            open: Vec::new(),
        }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.full.len() * CHUNK + self.open.len() / self.width
    }

    pub(super) fn push(&mut self, row: &[u32]) {
        self.open.extend_from_slice(row);
        if self.open.len() == CHUNK * self.width {
            self.full.push(Chunk::of(&self.open, self.width));
            self.open.clear();
        }
    }

    /// The numbers of a row, one after the other.
    pub(super) fn row(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let (chunk, place) = (number as usize / CHUNK, number as usize % CHUNK);
        let chunk = self.full.get(chunk);
        let (mut bit, start) = match chunk {
            Some(chunk) => (place * chunk.row_bits, 0),
            None => (0, place * self.width),
        };
        (0..self.width).map(move |column| match chunk {
            Some(chunk) => {
                let bits = chunk.bits[column];
                let number = chunk.read(bit, bits);
                bit += usize::from(bits);
                number
            }
            None => self.open[start + column],
        })
    }

    /// How many bytes all of it takes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let full = self.full.iter().map(|chunk| size_of_val(&*chunk.words));
        full.sum::<usize>() + size_of_val(self.open.as_slice())
    }
}

impl Chunk {
    fn of(rows: &[u32], width: usize) -> Self {
        let mut greatest = vec![0; width];
        for row in rows.chunks_exact(width) {
            for (greatest, &number) in greatest.iter_mut().zip(row) {
                *greatest |= number;
            }
        }
        let bits = greatest.iter().map(|number| 32 - number.leading_zeros());
        let bits: Box<[u8]> = bits.map(|bits| bits as u8).collect();
        let row_bits = bits.iter().copied().map(usize::from).sum::<usize>();
        let words = (rows.len() / width * row_bits).div_ceil(64) + 1;
        let mut words = vec![0; words].into_boxed_slice();
        let mut bit = 0;
        for row in rows.chunks_exact(width) {
            for (&number, &bits) in row.iter().zip(&bits) {
                let both = u128::from(number) << (bit % 64);
                words[bit / 64] |= both as u64;
                words[bit / 64 + 1] |= (both >> 64) as u64;
                bit += usize::from(bits);
            }
        }
        Self {
            bits,
            row_bits,
            words,
        }
    }

    fn read(&self, bit: usize, bits: u8) -> u32 {
        let (low, high) = (self.words[bit / 64], self.words[bit / 64 + 1]);
        let both = u128::from(high) << 64 | u128::from(low);
        let number = (both >> (bit % 64)) as u64;
        (number & ((1 << bits) - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of every length, and columns that are always zero.
    fn row(number: u32) -> [u32; 4] {
        let mixed = number.wrapping_mul(2_654_435_769);
        [mixed, 0, mixed >> (number % 32), number >> 12]
    }

    #[test]
    fn every_row_comes_back() {
        let mut packed = Packed::new(4);
        let rows = 2 * CHUNK as u32 + 5;
        for number in 0..rows {
            assert_eq!(packed.len(), number as usize);
            packed.push(&row(number));
        }
        for number in 0..rows {
            assert!(packed.row(number).eq(row(number)), "{number}");
        }
    }

    #[test]
    fn small_numbers_take_few_bits() {
        let mut packed = Packed::new(3);
        for number in 0..CHUNK as u32 {
            packed.push(&[number % 1000, 7, 0]);
        }
        assert_eq!(packed.bytes(), CHUNK * 13 / 8 + 8, "10 and 3 bits a row");
    }
}
