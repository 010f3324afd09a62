//! What has to be on some schedule: a walk that never came by there shows nothing of it.

/// What a scope of at least the usual bounds needs for a point to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// Two writers that both have something to write, or a call that fails.
    Rivals,
    /// An input that can be declined.
    Withdrawal,
    /// A call that fails.
    Failures,
    /// A client that does not wait for an answer.
    Impatience,
}

/// Something that has to be on some schedule.
macro_rules! points {
    ($($needs:ident { $($point:ident: $words:literal;)* })*) => {
        /// Something that has to be on some schedule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Point {
            $($(#[doc = $words] $point,)*)*
        }

        impl Point {
            /// All of them.
            pub const ALL: &[Self] = &[$($(Self::$point,)*)*];

            /// In words.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $($(Self::$point => $words,)*)* }
            }

            pub(super) fn needs(self) -> Needs {
                match self { $($(Self::$point => Needs::$needs,)*)* }
            }
        }
    };
}

points! {
    Nothing {
        Together: "two inputs went in one commit";
        Queued: "an input waited for the batch before it";
        CommitRefused: "a commit was refused, since another was first";
        CommitUnheard: "a commit landed, and its answer was lost";
        LateCommitBeforeReread: "a late commit landed before its process read again";
        LateCommitAfterReread: "a late commit landed after its process had read again";
        LateCommitAfterDeath: "a late commit landed after its process had crashed";
        LateCommitRefused: "a late commit was refused";
        LateProjectionLanded: "a late projection landed";
        LateProjectionAfterDeath: "a late projection landed after its sender had crashed";
        LateProjectionBehindCommit: "a late projection was refused, since others had committed meanwhile";
        LateProjectionBehindProjection: "a late projection was refused, since others had projected meanwhile";
        CrashInHand: "somebody crashed before its write";
        CrashAfterCommit: "a process crashed when its commit had landed, before it heard so";
        CrashBetween: "a process crashed between its commit and its projection";
        CrashAfterProjection: "somebody crashed when its projection had landed, before it heard so";
        ProjectionRefusedByCommit: "a projection was refused, since others had committed";
        ProjectionRefusedByProjection: "a projection was refused, since others had projected";
        ProjectionUnheard: "a projection landed, and its answer was lost";
        CommitBehindMovedMarker: "a commit landed behind a marker that had moved since its read";
        SentAgain: "a client sent its input again";
        Duplicate: "an input was answered from what another submission of it had stored";
        AppliedAgain: "an input that had not landed was applied when it was sent again";
        ForeignDebt: "a process projected what another had committed";
        ToldProjected: "a caller heard that the view shows its outcome";
        ToldCommitted: "a caller heard that its outcome is durable, and no more";
        ResumedDebt: "a resume finished a debt";
        ResumedNothing: "a resume found nothing pending";
        ResumeOvertaken: "a resume's projection was refused";
        ResumeGaveUp: "a resume came to grief";
        DebtLeft: "something was pending when all had come to rest";
    }
    Rivals {
        ToldNotCommitted: "a caller heard that its input was not committed";
        ToldInDoubt: "a caller heard that its input was in doubt";
    }
    Withdrawal {
        Declined: "an input was declined";
    }
    Impatience {
        SentAtOnce: "a client sent its input again while it still waited for an answer";
    }
    Failures {
        ReadFailed: "a read failed";
        WriteFailed: "a write failed without effect";
    }
}

/// Which points a move met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Met(u64);

impl Met {
    pub(super) fn meets(&mut self, point: Point) {
        self.0 |= 1 << point as u64;
    }

    pub(super) fn meets_if(&mut self, is_so: bool, point: Point) {
        if is_so {
            self.meets(point);
        }
    }

    pub(super) fn points(self) -> impl Iterator<Item = Point> {
        let all = Point::ALL.iter().copied();
        all.filter(move |&point| self.0 & (1 << point as u64) != 0)
    }
}

const _: () = assert!(Point::ALL.len() <= 64, "a point has no bit of its own");
