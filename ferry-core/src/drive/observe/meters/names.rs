//! What the meters are called outside. The table in `docs/observability.md` says the same, and a test compares them.

use metrics::Unit;

/// One enum for each kind of meter, and what its variants are called outside.
macro_rules! meters {
    ($(enum $kind:ident { $($variant:ident: $name:literal, $unit:ident, $text:literal;)* })*) => {
        $(
            #[derive(Clone, Copy)]
            pub(super) enum $kind {
                $($variant,)*
            }

            impl $kind {
                pub(super) const ALL: [Named; [$($name),*].len()] = [
                    $(Named { name: $name, unit: Unit::$unit, text: $text },)*
                ];
            }
        )*
    };
}

pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) text: &'static str,
}

meters! {
    enum Count {
        Accepted: "ferry_accepted_total", Count, "Inputs accepted";
        Withdrawn: "ferry_withdrawn_total", Count, "Inputs withdrawn by their callers while they waited";
        Expired: "ferry_expired_total", Count, "Inputs whose deadline passed while they waited";
        Batches: "ferry_batches_total", Count, "Batches whose round trip is over";
        Batched: "ferry_batched_total", Count, "Inputs of these batches";
        Resumes: "ferry_resumes_total", Count, "Times that a key was resumed, on its own or by a sweep";
        Reads: "ferry_reads_total", Count, "Reads asked for";
        Commits: "ferry_commits_total", Count, "Commits asked for";
        Refused: "ferry_refused_total", Count, "Commits that the store refused since the record had changed";
        InDoubt: "ferry_in_doubt_total", Count, "Commits in doubt";
        Faults: "ferry_faults_total", Count, "Reads and commits that failed for certain";
        Retries: "ferry_retries_total", Count, "Times that a round trip or a resume was tried again after a pause";
        Splits: "ferry_splits_total", Count, "Times that a batch was split to find the input at fault";
        Projections: "ferry_projections_total", Count, "Projections asked for";
        ProjectionsFailed: "ferry_projections_failed_total", Count, "Projections that did not bring the view up to the whole record";
        Applied: "ferry_applied_total", Count, "Inputs answered as applied by their round trip";
        Duplicates: "ferry_duplicates_total", Count, "Inputs answered from what was stored";
        Declined: "ferry_declined_total", Count, "Inputs that the step declined, mismatches apart";
        Mismatches: "ferry_mismatches_total", Count, "Inputs whose id was known with other content";
        TooOld: "ferry_too_old_total", Count, "Inputs whose id is older than what the record remembers";
        ExpiredInFlight: "ferry_expired_in_flight_total", Count, "Inputs whose deadline passed between tries";
        Failed: "ferry_failed_total", Count, "Inputs that failed otherwise";
        Late: "ferry_late_total", Count, "Inputs answered as committed, their view late";
    }

    enum Amount {
        Waiting: "ferry_waiting", Count, "Inputs that wait for their key's next batch";
        Queueing: "ferry_queueing", Count, "Inputs waiting or in flight, and places set aside for more";
        BatchesInFlight: "ferry_batches_in_flight", Count, "Batches in flight";
    }

    enum Spread {
        BatchInputs: "ferry_batch_inputs", Count, "Inputs of a batch";
        BatchTries: "ferry_batch_tries", Count, "Tries of a batch that went to a store";
        RoundTrip: "ferry_round_trip_seconds", Seconds, "From the begin of a batch's round trip to its end";
        OldestWait: "ferry_oldest_wait_seconds", Seconds, "How long a batch's first input had waited when its round trip began";
    }
}

/// Under which label the handle's name is told.
pub(super) const HANDLE: &str = "handle";

/// Told apart by why.
pub(super) const REJECTED: Named = Named {
    name: "ferry_rejected_total",
    unit: Unit::Count,
    text: "Inputs handed back, over a bound or closed",
};

/// Under which label it is told why an input was handed back.
pub(super) const REASON: &str = "reason";
