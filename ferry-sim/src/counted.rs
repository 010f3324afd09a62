//! Numbers of things, in words.

use indicatif::HumanCount;

/// As in "1 seed" and "2,000 seeds", of a noun whose plural is regular.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", HumanCount(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_told_as_one() {
        assert_eq!(counted(1, "seed"), "1 seed");
        assert_eq!(counted(0, "seed"), "0 seeds");
        assert_eq!(counted(2_000, "seed"), "2,000 seeds");
    }
}
