//! A debt that was not paid, and what is known of it.

use crate::{Cause, Class, guard::discard};

pub(crate) struct Unpaid<E> {
    /// What the last try came to grief on.
    pub(crate) cause: Cause<E>,
    /// What trying again can do about it.
    pub(crate) class: Class,
    /// Whether others are at work on the record: it has another version now than the one that was to be
    /// projected.
    pub(crate) is_overtaken: bool,
}

impl<E> Unpaid<E> {
    pub(super) fn new(cause: Cause<E>, class: Class) -> Self {
        Self {
            cause,
            class,
            is_overtaken: false,
        }
    }

    /// Nothing is to be tried again after a panic.
    pub(super) fn panicked(message: alloc::sync::Arc<str>) -> Self {
        Self::new(Cause::Panicked(message), Class::Permanent)
    }

    pub(super) fn discard(self) {
        discard(self.cause);
    }
}

impl<E> Clone for Unpaid<E> {
    fn clone(&self) -> Self {
        Self {
            cause: self.cause.clone(),
            ..*self
        }
    }
}

#[cfg(all(test, feature = "drive"))]
mod tests {
    use core::convert::Infallible;

    use crate::{
        Class, CommitError, Fault, Fold, Instant, Projection, Record, RecordOf, Retry, Schema,
        StepOf,
        projected_write::{ProjectedWrite, Unpaid, resume::Command},
    };

    /// A record is its marker.
    struct Marked;

    impl Schema for Marked {
        type Key = ();
        type Id = ();
        type State = u64;
        type Version = u64;
        type Entry = Infallible;
        type Error = &'static str;
    }

    impl Fold for Marked {
        type Schema = Self;
        type Input = Infallible;
        type Outcome = Infallible;

        fn id(&self, input: &Infallible) {
            match *input {}
        }

        fn empty(&self, _key: &()) -> u64 {
            0
        }

        fn step(&self, _marker: &mut u64, input: &Infallible) -> StepOf<Self> {
            match *input {}
        }
    }

    impl Projection for Marked {
        type View = ();

        fn pending(&self, record: &RecordOf<Self>) -> bool {
            record.state != record.version
        }
    }

    /// A resume that reads this version, is answered this, and reads that version as its last.
    fn unpaid(first: u64, error: CommitError<&'static str>, last: u64) -> Unpaid<&'static str> {
        let write = ProjectedWrite::new(Marked, Retry::default()).unwrap();
        let record = |version| Ok(Some(Record { state: 0, version }));
        let now = Instant::EPOCH;
        let mut command = write.resume_once(1, now, ());
        for version in [first, last] {
            let Command::Read(read) = command else {
                panic!("no read, but {command:?}")
            };
            command = match read.resume(now, record(version)) {
                Command::Project(project) => project.resume(now, Err(error)),
                other @ (Command::Read(_) | Command::Sleep(_) | Command::Done(_)) => other,
            };
            if matches!(command, Command::Done(_)) {
                break;
            }
        }
        let Command::Done(done) = command else {
            panic!("not done, but {command:?}")
        };
        done.paid().map(drop).unwrap_err()
    }

    #[test]
    fn who_is_refused_by_one_who_goes_on_has_been_overtaken() {
        assert!(unpaid(1, CommitError::Refused, 2).is_overtaken);
        // A fence that does not hold though nothing has moved is no rival's.
        assert!(!unpaid(1, CommitError::Refused, 1).is_overtaken);
        // It may fail for whoever is at work, too.
        assert!(!unpaid(1, CommitError::InDoubt("lost"), 2).is_overtaken);
    }

    #[test]
    fn what_trying_again_can_do_is_kept() {
        let throttled = Fault::throttled("busy", Some(core::time::Duration::from_secs(9)));
        for fault in [Fault::permanent("too large"), throttled] {
            let Fault { class, .. } = fault;
            assert_eq!(unpaid(1, fault.into(), 1).class, class);
        }
        assert_eq!(unpaid(1, CommitError::Refused, 1).class, Class::Transient);
    }
}
