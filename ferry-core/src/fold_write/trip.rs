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

/// What a read is for.
#[derive(Clone, Copy)]
pub(super) enum Aim {
    /// To fold on the record, and commit.
    Carry,
    /// The last try left it open: to tell what landed from what did not.
    Settle,
}

/// How a try failed.
struct Setback<E> {
    stage: Stage,
    cause: Cause<E>,
    class: Class,
}

/// Where a try failed. A commit leaves things open that one more read can settle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Read,
    Commit,
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
        self.group.extend(batch.drain().map(|item| Held {
            ticket: item.ticket,
            deadline: item.deadline,
            input: item.input,
            standing: Standing::Clear,
        }));
        self.batch = Some(batch);
        self.expire(now);
        self.read(now, Aim::Carry)
    }

    /// Between batches a trip keeps buffers, and nothing in them.
    pub(super) fn finish(&mut self) -> BatchOf<F> {
        self.answered.clear();
        self.ids.clear();
        self.fates.clear();
        self.entries.clear();
        match self.batch.take() {
            Some(batch) => batch,
            None => unreachable!("a stage exists from start to finish, and so does the batch"),
        }
    }

    /// Asks for the record, if the group has an input left; else goes on to the next group.
    fn read(mut self: Box<Self>, now: Instant, mut aim: Aim) -> Command<F> {
        self.name_ids();
        while self.group.is_empty() {
            let Some(next) = self.later.pop() else {
                return Command::Done(Done { trip: self });
            };
            self.group = next;
            aim = Aim::Carry;
            self.failed = 0;
            self.expire(now);
            self.name_ids();
        }
        self.tally.reads += 1;
        Command::Read(Reading { trip: self, aim })
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
                // Without an id it has no twin either.
                Err(message) => self.answered.extend(self.group.remove(at).map(|held| {
                    self.tally.failed += 1;
                    held.failed(Cause::Panicked(message))
                })),
            }
        }
    }

    // ---- read and fold ----------------------------------------------------------------------------

    pub(super) fn read_done(
        mut self: Box<Self>,
        now: Instant,
        aim: Aim,
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
                self.read(now, aim)
            }
            Ok(()) if self.group.is_empty() => self.read(now, Aim::Carry),
            Ok(()) if matches!(aim, Aim::Settle) => self.settle(now),
            Ok(()) if self.entries.is_empty() => {
                // A commit in doubt may yet apply what this fold declined. Wait for it to show.
                let cause = self.cause.clone();
                let class = Class::Transient;
                let stage = Stage::Read;
                self.again(
                    now,
                    Setback {
                        stage,
                        cause,
                        class,
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
        aim: Aim,
        fault: Fault<ErrorOf<F>>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Store(Arc::new(fault.error));
        match (aim, fault.class) {
            (Aim::Settle, _) => self.give_up(now, cause),
            (Aim::Carry, Class::Permanent) => self.split(now, Stage::Read, cause),
            (Aim::Carry, class @ (Class::Transient | Class::Throttled(_))) => {
                let stage = Stage::Read;
                self.again(
                    now,
                    Setback {
                        stage,
                        cause,
                        class,
                    },
                )
            }
        }
    }

    pub(super) fn read_panicked(
        mut self: Box<Self>,
        now: Instant,
        aim: Aim,
        message: Arc<str>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Panicked(message);
        match aim {
            Aim::Settle => self.give_up(now, cause),
            Aim::Carry => self.split(now, Stage::Read, cause),
        }
    }

    // ---- commit -----------------------------------------------------------------------------------

    pub(super) fn landed(mut self: Box<Self>, now: Instant) -> Command<F> {
        if !self.later.is_empty() {
            self.carried().for_each(Held::may_be_stored);
        }
        while !self.group.is_empty() {
            self.answer(0);
        }
        self.read(now, Aim::Carry)
    }

    /// What refused it may be its own first copy, sent by a layer below: nothing is known before the
    /// next read.
    pub(super) fn refused(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
    ) -> Command<F> {
        self.tally.refused += 1;
        self.doubt(expected);
        let (stage, class) = (Stage::Commit, Class::Transient);
        let cause = Cause::Refused;
        self.again(
            now,
            Setback {
                stage,
                cause,
                class,
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
            Class::Permanent => self.split(now, Stage::Commit, cause),
            class @ (Class::Transient | Class::Throttled(_)) => {
                let stage = Stage::Commit;
                self.again(
                    now,
                    Setback {
                        stage,
                        cause,
                        class,
                    },
                )
            }
        }
    }

    pub(super) fn in_doubt(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
        error: ErrorOf<F>,
    ) -> Command<F> {
        self.tally.in_doubt += 1;
        self.doubt(expected);
        let cause = Cause::Store(Arc::new(error));
        let (stage, class) = (Stage::Commit, Class::Transient);
        self.again(
            now,
            Setback {
                stage,
                cause,
                class,
            },
        )
    }

    pub(super) fn commit_panicked(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
        message: Arc<str>,
    ) -> Command<F> {
        self.tally.in_doubt += 1;
        self.doubt(expected);
        self.split(now, Stage::Commit, Cause::Panicked(message))
    }

    /// A commit of the group, fenced on this version, may have landed or may still.
    fn doubt(&mut self, expected: &Option<VersionOf<F>>) {
        self.carried().for_each(|held| held.doubt(expected));
    }

    /// The inputs whose ids are in the store once a commit of the group lands: those that it
    /// applies, and their twins in this group and, where a split has parted them, in later ones.
    fn carried(&mut self) -> impl Iterator<Item = &mut Held<F>> {
        let fold = &self.fold;
        let may_have_twins = !self.later.is_empty() || self.entries.len() < self.fates.len();
        let ids: Vec<_> = (self.group.iter().zip(&self.fates))
            .filter(|(_, fate)| may_have_twins && fate.is_applied())
            .filter_map(|(held, _)| guard(|| fold.id(&held.input)).ok())
            .collect();
        let is_twin = move |held: &Held<F>| {
            guard(|| fold.id(&held.input)).map_or(true, |id| ids.contains(&id))
        };
        let fates = self.fates.iter().map(Fate::is_applied);
        let group = self.group.iter_mut().zip(fates);
        let later = self.later.iter_mut().flatten().map(|held| (held, false));
        group
            .chain(later)
            .filter(move |(held, is_applied)| *is_applied || is_twin(held))
            .map(|(held, _)| held)
    }

    // ---- failing, splitting, trying again -----------------------------------------------------------

    /// Something in the group will fail every time: tries the halves apart, the first one first. An
    /// input that is alone fails.
    fn split(
        mut self: Box<Self>,
        now: Instant,
        stage: Stage,
        cause: Cause<ErrorOf<F>>,
    ) -> Command<F> {
        if self.group.len() == 1 {
            return self.end(now, stage, cause);
        }
        self.tally.splits += 1;
        let half = self.group.len().div_ceil(2);
        let second = self.group.split_off(half);
        self.later.push(second);
        self.failed = 0;
        self.cause = cause;
        self.read(now, Aim::Carry)
    }

    /// A try failed: sleeps and begins the next, unless it was the last.
    fn again(mut self: Box<Self>, now: Instant, setback: Setback<ErrorOf<F>>) -> Command<F> {
        self.failed += 1;
        let until = now + self.jitter.pause(&self.retry, self.failed, setback.class);
        if self.failed >= self.retry.attempts || until > self.started + self.retry.total {
            return self.end(now, setback.stage, setback.cause);
        }
        self.cause = setback.cause;
        self.tally.retries += 1;
        self.sleep(now, until)
    }

    /// There is no further try. If a commit left it open what became of an input, a read tells.
    fn end(
        mut self: Box<Self>,
        now: Instant,
        stage: Stage,
        cause: Cause<ErrorOf<F>>,
    ) -> Command<F> {
        if stage == Stage::Commit && !self.group.iter().all(Held::is_clear) {
            self.cause = cause;
            self.read(now, Aim::Settle)
        } else {
            self.give_up(now, cause)
        }
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
            self.read(now, Aim::Carry)
        }
    }

    /// The last try left it open, and this read shows which inputs have not landed: they fail. What was
    /// folded behind them is told by a further read, without them.
    fn settle(mut self: Box<Self>, now: Instant) -> Command<F> {
        let cause = self.cause.clone();
        if self.entries.is_empty() {
            return self.give_up(now, cause);
        }
        // Out of hand while they fail: nothing of the group is committed any more, for a twin either.
        let group = core::mem::take(&mut self.group);
        let mut open = VecDeque::new();
        for (held, fate) in group.into_iter().zip(core::mem::take(&mut self.fates)) {
            if fate.is_applied() {
                self.tally.failed += 1;
                self.answer_failed(held, cause.clone());
            } else {
                open.push_back(held);
            }
            discard(fate);
        }
        self.group = open;
        self.read(now, Aim::Settle)
    }

    /// Fails what is left of the group, and goes on with the next.
    fn give_up(mut self: Box<Self>, now: Instant, cause: Cause<ErrorOf<F>>) -> Command<F> {
        let mut group = core::mem::take(&mut self.group);
        for held in group.drain(..) {
            self.tally.failed += 1;
            self.answer_failed(held, cause.clone());
        }
        self.group = group;
        self.read(now, Aim::Carry)
    }

    /// Fails the inputs whose deadline has passed, in any group.
    fn expire(&mut self, now: Instant) {
        let mut expired = Vec::new();
        for group in core::iter::once(&mut self.group).chain(&mut self.later) {
            while let Some(at) = group.iter().position(|held| held.is_due(now)) {
                expired.extend(group.remove(at));
            }
        }
        for held in expired {
            self.tally.expired += 1;
            self.answer_failed(held, Cause::Expired);
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
            self.answer_failed(held, cause);
        }
    }

    /// Answers an input that has left the groups with the failure that is true of it.
    fn answer_failed(&mut self, mut held: Held<F>, cause: Cause<ErrorOf<F>>) {
        if held.is_clear() && self.has_twin_of(&held) {
            held.may_be_stored();
        }
        self.answered.push_back(held.failed(cause));
    }

    /// Whether the same input is held once more, and may yet be written for it.
    fn has_twin_of(&self, left: &Held<F>) -> bool {
        let id = |held: &Held<F>| guard(|| self.fold.id(&held.input)).ok();
        let mut held = self.held().peekable();
        held.peek().is_some()
            && id(left).is_some_and(|left| held.any(|held| id(held).as_ref() == Some(&left)))
    }

    fn held(&self) -> impl Iterator<Item = &Held<F>> {
        self.group.iter().chain(self.later.iter().flatten())
    }
}
