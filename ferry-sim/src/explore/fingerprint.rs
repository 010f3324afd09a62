//! What a state is known by.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::state::State;

/// Two states with the same one are taken for one. Of a billion, some two are alike by chance with a probability of less
/// than one in 10²⁰.
pub(super) fn fingerprint(state: &State) -> u128 {
    let mut bytes = Bytes(Vec::with_capacity(256));
    state.hash(&mut bytes);
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(&bytes.0);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// All that there is to hash of a value, put down to be hashed at once: that is a good deal faster than piece by piece.
struct Bytes(Vec<u8>);

impl Bytes {
    /// A length or a number of a variant, which are small here.
    fn write_small(&mut self, number: u64) {
        match u8::try_from(number) {
            Ok(byte @ 0..=254) => self.0.push(byte),
            _ => {
                self.0.push(255);
                self.0.extend(number.to_le_bytes());
            }
        }
    }
}

impl Hasher for Bytes {
    fn finish(&self) -> u64 {
        unreachable!("the bytes are hashed, and not this")
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_small(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_small(number as u64);
    }
}
