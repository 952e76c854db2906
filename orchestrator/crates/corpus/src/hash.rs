//! Checksums that are stored, and so must not change with a library or a compiler.

/// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    let mut sum = Fnv::default();
    sum.add(bytes);
    sum.finish()
}

/// The same of what comes in pieces.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(OFFSET)
    }
}

impl Fnv {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

/// FNV-1a over the bits of each number instead of each byte: four times as fast, and rows are many.
pub(crate) fn fnv_row(row: &[f32]) -> u64 {
    row.iter().fold(OFFSET, |hash, x| (hash ^ u64::from(x.to_bits())).wrapping_mul(PRIME))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(fnv_row(&[0.0, 1.0]), fnv_row(&[1.0, 0.0]));
    }
}
