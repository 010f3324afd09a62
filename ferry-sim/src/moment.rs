//! Moments as they are told.

use core::fmt;

use ferry_core::Instant;

/// A moment as it is told everywhere: in seconds since the run began, cut to microseconds, as in `178.054125 s`. A width pads it
/// to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Instant);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.nanos() / 1_000;
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        f.pad(&format!("{seconds}.{micros:06} s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_cut_to_microseconds_and_keeps_its_column() {
        let told = |nanos| format!("{:>15}", Moment(Instant::from_nanos(nanos)));
        assert_eq!(told(178_054_125_999), "   178.054125 s");
        assert_eq!(told(999), "     0.000000 s");
    }
}
