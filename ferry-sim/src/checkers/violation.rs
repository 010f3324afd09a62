//! What can be wrong with a run.

use core::{fmt, time::Duration};

use ferry_core::Instant;

use super::Property;
use crate::{
    executor::Halt,
    history::{Life, SubmissionId},
    trace::Difference,
};

/// By the property that each violates: what it is, and how it is told.
macro_rules! violations {
    ($($property:ident {
        $($violation:ident { $($field:ident: $type:ty),* $(,)? } $words:literal $(, $arg:expr)*;)*
    })*) => {
        /// One thing that is wrong with a run.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "they are told by their `Display`")]
        pub enum Violation {
            $($($violation { $($field: $type),* },)*)*
            Diverged(Box<Difference>),
        }

        impl Violation {
            /// Which property it violates.
            #[must_use]
            pub fn property(&self) -> Property {
                match self {
                    $($(Self::$violation { .. } => Property::$property,)*)*
                    Self::Diverged(_) => Property::SameTrace,
                }
            }
        }

        impl fmt::Display for Violation {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(Self::$violation { $($field),* } => write!(f, $words $(, $arg)*),)*)*
                    Self::Diverged(difference) => write!(f, "the second run differs {difference}"),
                }
            }
        }
    };
}

/// "1 entry", "3 entries".
struct Entries(usize);

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 entry"),
            count => write!(f, "{count} entries"),
        }
    }
}

violations! {
    AppliedOnce {
        AppliedTwice { number: u64, first: SubmissionId, second: SubmissionId }
            "input {number} is in the log twice, from {first} and from {second}";
        NotLookedFor { life: Life, key: u32, submission: SubmissionId }
            "at key {key}, {life} committed {submission}, and had not named it when it read the record";
    }
    TrueAnswers {
        WrongOutcome { submission: SubmissionId, heard: String, stored: String }
            "{submission} heard \"{heard}\", and the log says \"{stored}\"";
        ForOtherContent { submission: SubmissionId, heard: String }
            "{submission} heard \"{heard}\", which is of other content";
        NeverSo { submission: SubmissionId, heard: String }
            "{submission} heard \"{heard}\", which was not so meanwhile";
        NoDoubt { submission: SubmissionId, heard: String }
            "{submission} heard \"{heard}\", and there is nothing to doubt: no commit may have brought it";
        NobodyLeft { submission: SubmissionId, heard: String }
            "{submission} heard \"{heard}\", and its node was there all the time";
        NotShown { submission: SubmissionId, entries: usize, shown: usize }
            "{submission} heard that the view shows its entry, number {entries}, and it showed {shown}";
        WroteAfterAll { submission: SubmissionId, heard: String, landed: Instant }
            "{submission} heard \"{heard}\", and was written at {landed:?}";
        WroteTwin { submission: SubmissionId, heard: String, twin: SubmissionId, landed: Instant }
            "{submission} heard \"{heard}\", and {twin}, the same in its batch, was written at {landed:?}";
        ExpiredTooSoon { submission: SubmissionId, early: Duration }
            "{submission} heard that its deadline passed, {early:?} before it did";
        NoDeadline { submission: SubmissionId }
            "{submission} heard that its deadline passed, and has none";
        RoomLeft { submission: SubmissionId, queueing: usize, of_key: usize }
            "{submission} was rejected, and there were {queueing} queueing at most, {of_key} of them of its key";
        ResumedUnshown { life: Life, key: u32, entries: usize, shown: usize }
            "{life} was told to resume key {key}, of {}, and said it was done when the view showed {shown}", Entries(*entries);
        WrongGauge { life: Life, gauge: &'static str, shown: u64, least: u64, most: u64 }
            "{life} shows {shown} {gauge}, and there are {least} at least and {most} at most";
        WrongCounter { life: Life, counter: &'static str, shown: u64, least: u64, most: u64 }
            "{life} has counted {shown} {counter}, and there were {least} at least and {most} at most";
    }
    NothingLost {
        NeverWritten { submission: SubmissionId, number: u64 }
            "{submission} was acknowledged, and input {number} is not in the log";
        WrittenAfterwards { submission: SubmissionId, answered: Instant, landed: Instant }
            "{submission} was acknowledged at {answered:?}, and written at {landed:?}";
        NotInRecord { submission: SubmissionId, key: u32, number: u64 }
            "{submission} was acknowledged, and the record of key {key} lacks input {number}";
    }
    InOrder {
        Overtaken { life: Life, key: u32, earlier: SubmissionId, by: SubmissionId }
            "at key {key}, {life}, {earlier} was overtaken by {by}";
    }
    Projected {
        StillPending { key: u32 }
            "the record of key {key} is pending for good";
        NeverShown { key: u32, shown: usize, entries: usize }
            "the record of key {key} has {}, and its view shows {shown} for good", Entries(*entries);
    }
    ViewForward {
        ShownTwice { key: u32, shown: usize, again: usize }
            "the view of key {key} showed {}, and was given those after {again} again", Entries(*shown);
        ViewLacks { key: u32, shown: usize, next: usize }
            "the view of key {key} showed {}, and was given those after {next}", Entries(*shown);
        ViewWentBack { key: u32, shown: usize, to: usize }
            "the view of key {key} went from entry {shown} back to {to}";
        MarkerWentBack { key: u32, marker: usize, to: usize }
            "the marker of key {key} went from entry {marker} back to {to}";
        MarkedUnshown { key: u32, shown: usize, to: usize }
            "the marker of key {key} went to entry {to}, and the view showed {shown}";
        MarkedWithinCommit { key: u32, to: usize }
            "the marker of key {key} went to entry {to}, where no commit ended";
    }
    Answered {
        Unanswered { number: u64, halt: Halt }
            "the client of input {number} still waits; the run ended as {halt:?}";
        NeverQuiet { halt: Halt }
            "everyone is answered, and things still move; the run ended as {halt:?}";
        ExpiredTooLate { submission: SubmissionId, late: Duration }
            "{submission} heard that its deadline passed, {late:?} after it could have";
        LeftTooLate { life: Life, key: u32, first: SubmissionId, late: Duration }
            "at key {key}, {life} began the batch of {first} {late:?} late, and nothing was in its way";
        PassedBy { life: Life, first: SubmissionId, by: SubmissionId }
            "the batch of {first} was ready on {life}, and the one of {by}, which came later, went first";
    }
    NoLeaks {
        StillHeld { node: usize, queueing: usize, waiting: usize, batches: usize, keys: usize }
            "node {node} still shows these many: queueing {queueing}, waiting {waiting}, batches {batches}, keys {keys}";
        TasksLeft { node: usize, tasks: usize }
            "node {node} was closed and let go of, and has tasks left: {tasks}";
        BatchTooLarge { life: Life, key: u32, inputs: usize, inputs_max: usize }
            "at key {key}, {life} committed {inputs} inputs at once, and a batch has {inputs_max} at most";
        BatchTooHeavy { life: Life, key: u32, weight: usize, weight_max: usize }
            "at key {key}, {life} committed inputs that weigh {weight}, and a batch weighs {weight_max} at most";
        TooManyInFlight { life: Life, key: u32, batches: usize, batches_max: usize }
            "with that of key {key}, {life} had {batches} batches in flight, and {batches_max} are the most";
        LeftTooSoon { life: Life, key: u32, first: SubmissionId, early: Duration }
            "at key {key}, {life} began the batch of {first} {early:?} before it had lingered";
        NoRoomLeft { submission: SubmissionId, queueing: usize, queueing_max: usize }
            "{submission} was taken in, which made {queueing} queueing, and {queueing_max} are the most";
        NoRoomAtKey { submission: SubmissionId, queueing: usize, queueing_max: usize }
            "{submission} was taken in, which made {queueing} queueing at its key, and {queueing_max} are the most";
        TriedLate { submission: SubmissionId, late: Duration }
            "{submission} was tried {late:?} after its deadline";
        ClosedTooSoon { life: Life, submission: SubmissionId }
            "{life} said that it was closed, and {submission} was not answered";
        StoreAskedAfterClose { life: Life, key: u32 }
            "{life} said that it was closed, and was still asking the store about key {key}";
    }
    NoHarm {
        Blamed { submission: SubmissionId, heard: String }
            "{submission} heard \"{heard}\", and nothing is wrong with it";
        NotTriedApart { submission: SubmissionId, inputs: usize }
            "{submission} was turned away for good with {inputs} inputs together, and not tried again without them";
    }
    BoundedWork {
        TriedTooOften { life: Life, key: u32, tries: u32, attempts: u32 }
            "at key {key}, {life} tried the same {tries} times, and has {attempts} attempts";
        TriedTooLong { life: Life, key: u32, after: Duration, total: Duration }
            "at key {key}, {life} tried again {after:?} after its first try, and has {total:?} in all";
        TooSoon { life: Life, key: u32, pause: Duration, least: Duration }
            "at key {key}, {life} came back to a store that throttles after {pause:?}, and {least:?} were due";
        NoBackoff { failures: u64, nats: u64 }
            "after {failures} failures the pauses were so short as they are by chance once in e to the {nats}";
        InStep { one: (Life, u32), other: (Life, u32), pauses: [Duration; 3] }
            "{} at key {} and {} at key {} both paused for {pauses:?}", one.0, one.1, other.0, other.1;
        NotHalved { life: Life, key: u32, inputs: usize, then: usize }
            "at key {key}, {life} was turned away for good with {inputs} inputs, and came back with {then} of them";
        SweptTooOften { life: Life, key: u32, tries: u64, most: u64 }
            "{life} tried to project key {key} {tries} times, which is throttled for good, and {most} are due at most";
        SweptTooWide { life: Life, keys: usize, keys_max: usize }
            "the sweeper of {life} resumed {keys} keys at a time, and {keys_max} are the most";
    }
}
