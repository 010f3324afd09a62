//! What tells two contents apart.

use core::fmt;

/// Sixteen bytes that stand for the content of an input.
///
/// It is stored beside the id and answers one question: does this retry carry what the first try
/// carried? Take it over *canonical* bytes: equal contents must give equal bytes in every process
/// and every version of the client, so never over a hash map's order or a debug print, and leave out
/// what a retry may change (the time it was sent, a trace id).
///
/// # Which hash
///
/// [`of`](Self::of) and [`of_fields`](Self::of_fields) compute 128-bit FNV-1a, as published in RFC
/// 9923. It is the same everywhere and forever, and it keeps apart contents that differ by accident: a
/// bug, a reused id, a garbled request. It is **no** defence against somebody who looks for two contents
/// with one fingerprint; these are easy to construct. What such a client gains is to have its second
/// content answered with the outcome of its first, so where an id belongs to one client it deceives
/// only itself. Where parties that do not trust each other share ids, or the fingerprint serves as
/// evidence, bring a cryptographic digest, e.g. BLAKE3 or SHA-256:
///
/// ```text
/// Fingerprint::from_digest(*blake3::hash(&bytes).as_bytes())
/// Fingerprint::from_digest(<[u8; 32]>::from(sha2::Sha256::digest(&bytes)))
/// ```
///
/// Stay with one of them: to a record that holds one kind, the other kind is a mismatch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// The 128-bit FNV-1a hash of `bytes`, big-endian.
    ///
    /// ```
    /// use ferry_core::applied::Fingerprint;
    ///
    /// let fingerprint = Fingerprint::of(b"foobar");
    /// assert_eq!(format!("{fingerprint:?}"), "Fingerprint(343e1662793c64bf6f0d3597ba446f18)");
    /// ```
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self(fnv1a(FNV_OFFSET_BASIS, bytes).to_be_bytes())
    }

    /// As [`of`](Self::of), over several fields, each preceded by its length as eight bytes,
    /// little-endian.
    ///
    /// The lengths keep `("ab", "c")` and `("a", "bc")` apart, which plain concatenation would not.
    ///
    /// ```
    /// use ferry_core::applied::Fingerprint;
    ///
    /// let fingerprint = Fingerprint::of_fields(&[b"deposit", &250_i64.to_be_bytes(), b"rent"]);
    /// assert_ne!(fingerprint, Fingerprint::of_fields(&[b"deposit", &251_i64.to_be_bytes(), b"rent"]));
    /// assert_ne!(
    ///     Fingerprint::of_fields(&[b"ab", b"c"]),
    ///     Fingerprint::of_fields(&[b"a", b"bc"]),
    /// );
    /// ```
    #[must_use]
    pub fn of_fields(fields: &[&[u8]]) -> Self {
        let hash = fields.iter().fold(FNV_OFFSET_BASIS, |hash, field| {
            let length = (field.len() as u64).to_le_bytes();
            fnv1a(fnv1a(hash, &length), field)
        });
        Self(hash.to_be_bytes())
    }

    /// The first sixteen bytes of a digest of your own.
    ///
    /// A digest of fewer bytes does not compile:
    ///
    /// ```compile_fail
    /// # use ferry_core::applied::Fingerprint;
    /// Fingerprint::from_digest([0_u8; 8]);
    /// ```
    #[must_use]
    pub fn from_digest<const N: usize>(digest: [u8; N]) -> Self {
        const { assert!(N >= 16, "a fingerprint takes a digest of at least 16 bytes") };
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(bytes)
    }

    /// The sixteen bytes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl From<[u8; 16]> for Fingerprint {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// Shows all sixteen bytes, in hexadecimal.
impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({:032x})", u128::from_be_bytes(self.0))
    }
}

// The constants and the loop of RFC 9923.
const FNV_OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = (1 << 88) + (1 << 8) + 0x3b;

const fn fnv1a(mut hash: u128, mut bytes: &[u8]) -> u128 {
    while let [byte, rest @ ..] = bytes {
        hash = (hash ^ *byte as u128).wrapping_mul(FNV_PRIME);
        bytes = rest;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_vectors() {
        let vectors: [(&[u8], u128); 5] = [
            (b"", 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d),
            (b"a", 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964),
            (b"ab", 0x0880_9544_bbab_1be9_5aa0_7330_55b6_9a62),
            (b"abc", 0xa68d_622c_ec8b_5822_836d_bc79_77af_7f3b),
            (b"foobar", 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18),
        ];
        for (bytes, hash) in vectors {
            assert_eq!(Fingerprint::of(bytes).to_bytes(), hash.to_be_bytes());
        }
    }

    // What is stored must stay comparable with what later versions compute.
    #[test]
    fn fields_are_framed_by_their_length() {
        assert_eq!(
            Fingerprint::of_fields(&[b"ab", b"c"]).to_bytes(),
            0xb6ce_7db3_5a06_e745_7857_fa22_7a8b_de4e_u128.to_be_bytes()
        );
        assert_eq!(
            Fingerprint::of_fields(&[b"a", b"bc"]).to_bytes(),
            0xefdf_187f_3b77_026c_ed2f_13d8_b5bb_1a22_u128.to_be_bytes()
        );
        assert_eq!(Fingerprint::of_fields(&[]), Fingerprint::of(b""));
    }

    #[test]
    fn a_digest_gives_its_first_sixteen_bytes() {
        let digest: [u8; 32] = core::array::from_fn(|i| i as u8);
        let first: [u8; 16] = core::array::from_fn(|i| i as u8);
        assert_eq!(Fingerprint::from_digest(digest), Fingerprint::from(first));
        assert_eq!(Fingerprint::from_digest(first), Fingerprint::from(first));
    }
}
