//! What a round trip decides on each answer.

use super::{
    Answered, BatchOf, Command, Committing, Done, EntryOf, ErrorOf, IdOf, KeyOf, Reading, SchemaOf,
    Sleeping, StateOf, VersionOf,
    group::{Fate, Held, Standing},
};
use crate::{
    Cause, Class, Fault, Fold, Instant, RecordOf, Retry, Step,
    guard::{discard, guard},
    retry::Jitter,
};
use alloc::{boxed::Box, collections::VecDeque, sync::Arc, vec::Vec};

/// What a round trip took, and what became of its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Reads asked for.
    pub reads: u64,
    /// Commits asked for.
    pub commits: u64,
    /// Commits that the store refused since the record had changed.
    pub refused: u64,
    /// Commits in doubt.
    pub in_doubt: u64,
    /// Reads and commits that failed for certain.
    pub faults: u64,
    /// Times that a round trip was tried again after a pause.
    pub retries: u64,
    /// Times that a batch was split to find the input at fault.
    pub splits: u64,
    /// Inputs answered as applied by this round trip.
    pub applied: u64,
    /// Inputs answered from what was stored.
    pub duplicates: u64,
    /// Inputs that `step` declined, mismatches apart.
    pub declined: u64,
    /// Inputs whose id was known with other content.
    pub mismatches: u64,
    /// Inputs whose deadline passed between tries.
    pub expired: u64,
    /// Inputs that failed otherwise.
    pub failed: u64,
}

impl Tally {
    /// Adds another's counts to these.
    pub fn add(&mut self, other: &Self) {
        let Self {
            reads,
            commits,
            refused,
            in_doubt,
            faults,
            retries,
            splits,
            applied,
            duplicates,
            declined,
            mismatches,
            expired,
            failed,
        } = other;
        self.reads += reads;
        self.commits += commits;
        self.refused += refused;
        self.in_doubt += in_doubt;
        self.faults += faults;
        self.retries += retries;
        self.splits += splits;
        self.applied += applied;
        self.duplicates += duplicates;
        self.declined += declined;
        self.mismatches += mismatches;
        self.expired += expired;
        self.failed += failed;
    }
}

/// A round trip under way.
pub(super) struct Trip<F: Fold> {
    fold: Arc<F>,
    retry: Retry,
    jitter: Jitter,

    /// The batch, its inputs taken out; `None` before the start and after the end.
    batch: Option<BatchOf<F>>,
    /// When the first try began.
    started: Instant,
    /// Tries of the group in hand that failed.
    failed: u32,
    /// What the last of them came to grief on.
    cause: Cause<ErrorOf<F>>,

    /// The inputs that are tried together now, in order.
    group: VecDeque<Held<F>>,
    /// The groups that come after it, the next one last.
    later: Vec<VecDeque<Held<F>>>,
    /// Of the group, in order.
    pub(super) ids: Vec<IdOf<F>>,
    /// Of the group as last folded, in order.
    fates: VecDeque<Fate<F::Outcome>>,
    pub(super) entries: Vec<EntryOf<F>>,

    pub(super) answered: VecDeque<Answered<F>>,
    pub(super) tally: Tally,
}

/// How a try failed.
struct Setback<E> {
    cause: Cause<E>,
    class: Class,
}

impl<F: Fold> Trip<F> {
    pub(super) fn new(fold: Arc<F>, retry: Retry, seed: u64) -> Self {
        Self {
            fold,
            retry,
            jitter: Jitter::new(seed),
            batch: None,
            started: Instant::EPOCH,
            failed: 0,
            cause: Cause::Refused,
            group: VecDeque::new(),
            later: Vec::new(),
            ids: Vec::new(),
            fates: VecDeque::new(),
            entries: Vec::new(),
            answered: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn key(&self) -> &KeyOf<F> {
        match &self.batch {
            Some(batch) => batch.key(),
            None => unreachable!("a stage exists from start to finish, and so does the batch"),
        }
    }

    // ---- start and end --------------------------------------------------------------------------

    pub(super) fn start(mut self: Box<Self>, now: Instant, mut batch: BatchOf<F>) -> Command<F> {
        self.started = now;
        self.failed = 0;
        self.tally = Tally::default();
        self.answered.clear();
        self.group.extend(batch.drain().map(|item| Held {
            ticket: item.ticket,
            deadline: item.deadline,
            input: item.input,
            standing: Standing::Clear,
        }));
        self.batch = Some(batch);
        self.expire(now);
        self.read(now)
    }

    pub(super) fn finish(&mut self) -> BatchOf<F> {
        match self.batch.take() {
            Some(batch) => batch,
            None => unreachable!("a stage exists from start to finish, and so does the batch"),
        }
    }

    /// Asks for the record, if the group has an input left; else goes on to the next group.
    fn read(mut self: Box<Self>, now: Instant) -> Command<F> {
        self.name_ids();
        while self.group.is_empty() {
            let Some(next) = self.later.pop() else {
                return Command::Done(Done { trip: self });
            };
            self.group = next;
            self.failed = 0;
            self.expire(now);
            self.name_ids();
        }
        self.tally.reads += 1;
        Command::Read(Reading { trip: self })
    }

    /// Asks the group's inputs for their ids; one that panics fails.
    fn name_ids(&mut self) {
        self.ids.clear();
        let mut at = 0;
        while at < self.group.len() {
            match guard(|| self.fold.id(&self.group[at].input)) {
                Ok(id) => {
                    self.ids.push(id);
                    at += 1;
                }
                Err(message) => self.fail(at, Cause::Panicked(message)),
            }
        }
    }

    // ---- read and fold ----------------------------------------------------------------------------

    pub(super) fn read_done(
        mut self: Box<Self>,
        now: Instant,
        record: Option<RecordOf<SchemaOf<F>>>,
    ) -> Command<F> {
        let (mut state, version) = match record {
            Some(record) => (record.state, Some(record.version)),
            None => match guard(|| self.fold.empty(self.key())) {
                Ok(state) => (state, None),
                Err(message) => return self.give_up(now, Cause::Panicked(message)),
            },
        };
        let folded = self.fold_group(&mut state, version.as_ref());
        self.answer_settled();
        match folded {
            Err(message) => {
                // The inputs before it have their fates; it stands where the fates end.
                self.fail(self.fates.len(), Cause::Panicked(message));
                self.read(now)
            }
            Ok(()) if self.group.is_empty() => self.read(now),
            Ok(()) if self.entries.is_empty() => {
                // A commit in doubt may yet apply what this fold declined. Wait for it to show.
                let cause = self.cause.clone();
                self.again(
                    now,
                    Setback {
                        cause,
                        class: Class::Transient,
                    },
                )
            }
            Ok(()) => {
                self.tally.commits += 1;
                Command::Commit(Committing {
                    trip: self,
                    expected: version,
                    state,
                })
            }
        }
    }

    fn fold_group(
        &mut self,
        state: &mut StateOf<F>,
        version: Option<&VersionOf<F>>,
    ) -> Result<(), Arc<str>> {
        // Each on its own, in case the user's `Drop` panics.
        self.fates.drain(..).for_each(discard);
        self.entries.clear();
        for held in &mut self.group {
            let fate = match guard(|| self.fold.step(state, &held.input))? {
                Step::Applied(entry, outcome) => {
                    self.entries.push(entry);
                    Fate::Applied(outcome)
                }
                Step::Already(outcome) => Fate::Already(outcome),
                Step::Refused(outcome) => Fate::Declined(outcome),
                Step::Mismatch(outcome) => Fate::Mismatched(outcome),
            };
            held.learn(&fate, version);
            self.fates.push_back(fate);
        }
        Ok(())
    }

    /// Answers the inputs whose outcome rests on the record as read: those that were folded before
    /// the first that changed the state.
    fn answer_settled(&mut self) {
        let unchanged = self
            .fates
            .iter()
            .take_while(|fate| !fate.is_applied())
            .count();
        let mut at = 0;
        for _ in 0..unchanged {
            if self.group[at].is_settled(&self.fates[at]) {
                self.answer(at);
            } else {
                at += 1;
            }
        }
    }

    pub(super) fn read_failed(
        mut self: Box<Self>,
        now: Instant,
        fault: Fault<ErrorOf<F>>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Store(Arc::new(fault.error));
        match fault.class {
            // It is the record that cannot be read; no input of it is at fault.
            Class::Permanent => self.give_up(now, cause),
            class @ (Class::Transient | Class::Throttled(_)) => {
                self.again(now, Setback { cause, class })
            }
        }
    }

    pub(super) fn read_panicked(
        mut self: Box<Self>,
        now: Instant,
        message: Arc<str>,
    ) -> Command<F> {
        self.tally.faults += 1;
        self.give_up(now, Cause::Panicked(message))
    }

    // ---- commit -----------------------------------------------------------------------------------

    pub(super) fn landed(mut self: Box<Self>, now: Instant) -> Command<F> {
        while !self.group.is_empty() {
            self.answer(0);
        }
        self.read(now)
    }

    pub(super) fn refused(mut self: Box<Self>, now: Instant) -> Command<F> {
        self.tally.refused += 1;
        self.again(
            now,
            Setback {
                cause: Cause::Refused,
                class: Class::Transient,
            },
        )
    }

    pub(super) fn not_landed(
        mut self: Box<Self>,
        now: Instant,
        fault: Fault<ErrorOf<F>>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Store(Arc::new(fault.error));
        match fault.class {
            Class::Permanent => self.split(now, cause),
            class @ (Class::Transient | Class::Throttled(_)) => {
                self.again(now, Setback { cause, class })
            }
        }
    }

    pub(super) fn in_doubt(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
        error: ErrorOf<F>,
    ) -> Command<F> {
        self.doubt(expected);
        let cause = Cause::Store(Arc::new(error));
        self.again(
            now,
            Setback {
                cause,
                class: Class::Transient,
            },
        )
    }

    pub(super) fn commit_panicked(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
        message: Arc<str>,
    ) -> Command<F> {
        self.doubt(expected);
        self.split(now, Cause::Panicked(message))
    }

    fn doubt(&mut self, expected: &Option<VersionOf<F>>) {
        self.tally.in_doubt += 1;
        for (held, fate) in self.group.iter_mut().zip(&self.fates) {
            if fate.is_applied() {
                held.doubt(expected);
            }
        }
    }

    // ---- failing, splitting, trying again -----------------------------------------------------------

    /// Something in the group will fail every time: tries the halves apart, the first one first. An
    /// input that is alone fails.
    fn split(mut self: Box<Self>, now: Instant, cause: Cause<ErrorOf<F>>) -> Command<F> {
        if self.group.len() == 1 {
            return self.give_up(now, cause);
        }
        self.tally.splits += 1;
        let half = self.group.len().div_ceil(2);
        let second = self.group.split_off(half);
        self.later.push(second);
        self.failed = 0;
        self.cause = cause;
        self.read(now)
    }

    /// A try failed: sleeps and begins the next, unless it was the last.
    fn again(mut self: Box<Self>, now: Instant, setback: Setback<ErrorOf<F>>) -> Command<F> {
        self.failed += 1;
        let until = now + self.jitter.pause(&self.retry, self.failed, setback.class);
        if self.failed >= self.retry.attempts || until > self.started + self.retry.total {
            return self.give_up(now, setback.cause);
        }
        self.cause = setback.cause;
        self.tally.retries += 1;
        self.sleep(now, until)
    }

    fn sleep(self: Box<Self>, now: Instant, until: Instant) -> Command<F> {
        let deadline = self.held().filter_map(|held| held.deadline).min();
        let duration = deadline.map_or(until, |deadline| until.min(deadline)) - now;
        Command::Sleep(Sleeping {
            trip: self,
            until,
            duration,
        })
    }

    pub(super) fn woken(mut self: Box<Self>, now: Instant, until: Instant) -> Command<F> {
        self.expire(now);
        if now < until && self.held().next().is_some() {
            self.sleep(now, until)
        } else {
            self.read(now)
        }
    }

    /// Fails what is left of the group, and goes on with the next.
    fn give_up(mut self: Box<Self>, now: Instant, cause: Cause<ErrorOf<F>>) -> Command<F> {
        while !self.group.is_empty() {
            self.fail(0, cause.clone());
        }
        self.read(now)
    }

    /// Fails the inputs whose deadline has passed, in any group.
    fn expire(&mut self, now: Instant) {
        for group in core::iter::once(&mut self.group).chain(&mut self.later) {
            while let Some(at) = group.iter().position(|held| held.is_due(now))
                && let Some(held) = group.remove(at)
            {
                self.tally.expired += 1;
                self.answered.push_back(held.failed(Cause::Expired));
            }
        }
    }

    /// Answers an input of the group with what the fold made of it.
    fn answer(&mut self, at: usize) {
        let (Some(held), Some(fate)) = (self.group.remove(at), self.fates.remove(at)) else {
            unreachable!("a folded input has a fate")
        };
        match fate {
            Fate::Applied(_) => self.tally.applied += 1,
            Fate::Already(_) => self.tally.duplicates += 1,
            Fate::Declined(_) => self.tally.declined += 1,
            Fate::Mismatched(_) => self.tally.mismatches += 1,
        }
        self.answered.push_back(held.answered(fate));
    }

    /// Fails an input of the group.
    fn fail(&mut self, at: usize, cause: Cause<ErrorOf<F>>) {
        if let Some(held) = self.group.remove(at) {
            self.tally.failed += 1;
            self.answered.push_back(held.failed(cause));
        }
    }

    fn held(&self) -> impl Iterator<Item = &Held<F>> {
        self.group.iter().chain(self.later.iter().flatten())
    }
}
