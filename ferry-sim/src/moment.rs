//! Moments as they are told.

use core::fmt;

use ferry_core::Instant;

/// A moment as it is told everywhere: in milliseconds since the run began, cut to microseconds, as in `178054.125 ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Instant);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.nanos() / 1_000;
        f.pad(&format!("{}.{:03} ms", micros / 1_000, micros % 1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_cut_to_microseconds_and_keeps_its_column() {
        let told = |nanos| format!("{:>15}", Moment(Instant::from_nanos(nanos)));
        assert_eq!(told(178_054_125_999), "  178054.125 ms");
        assert_eq!(told(999), "       0.000 ms");
    }
}
