//! What a round trip holds; how it starts, reads for one group after another, and is over.

use alloc::{boxed::Box, collections::VecDeque, sync::Arc, vec::Vec};

use super::{
    BatchOf, Command, Done, EntryOf, ErrorOf, IdOf, KeyOf, Reading, Settled, Tally,
    group::{Fate, Held, InDoubtAs, Naming, Place, Standing},
};
use crate::{
    Cause, Fold, Instant, Retry,
    guard::{discard, guard},
    retry::Jitter,
};

/// A round trip under way.
pub(super) struct Trip<F: Fold> {
    pub(super) fold: Arc<F>,
    pub(super) retry: Retry,
    pub(super) jitter: Jitter,

    /// The batch, its inputs taken out; `None` before the start and after the end.
    batch: Option<BatchOf<F>>,
    /// When the first try began.
    pub(super) started: Instant,
    /// Tries of the group in hand that failed.
    pub(super) tries_failed: u32,
    /// What the last try of all came to grief on, while reads settle what it left open.
    pub(super) cause: Cause<ErrorOf<F>>,
    /// What the last commit in doubt came to grief on, whatever has failed since.
    pub(super) doubted_for: Cause<ErrorOf<F>>,

    /// The inputs that are tried together now, in order.
    pub(super) group: VecDeque<Held<F>>,
    /// The groups that come after it, the next one last.
    pub(super) later: Vec<VecDeque<Held<F>>>,
    /// What the inputs of the group were called when its last read began, in order.
    pub(super) ids: Vec<IdOf<F>>,
    /// Of the group as last folded, in order.
    pub(super) fates: VecDeque<Fate<F::Outcome>>,
    pub(super) entries: Vec<EntryOf<F>>,

    pub(super) settled: VecDeque<Settled<F>>,
    pub(super) tally: Tally,
}

/// What a read is for.
#[derive(Clone, Copy)]
pub(super) enum Aim {
    /// To fold on the record, and commit.
    Carry,
    /// The last try left it open what became of an input: to tell, and not to commit.
    Settle,
}

impl<F: Fold> Trip<F> {
    pub(super) fn new(fold: Arc<F>, retry: Retry, seed: u64) -> Self {
        Self {
            fold,
            retry,
            jitter: Jitter::new(seed),
            batch: None,
            started: Instant::EPOCH,
            tries_failed: 0,
            cause: Cause::Refused,
            doubted_for: Cause::Refused,
            group: VecDeque::new(),
            later: Vec::new(),
            ids: Vec::new(),
            fates: VecDeque::new(),
            entries: Vec::new(),
            settled: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn key(&self) -> &KeyOf<F> {
        match &self.batch {
            Some(batch) => batch.key(),
            None => unreachable!("a stage exists from start to finish, and so does the batch"),
        }
    }

    pub(super) fn start(mut self: Box<Self>, now: Instant, mut batch: BatchOf<F>) -> Command<F> {
        self.started = now;
        self.tries_failed = 0;
        self.tally = Tally::default();
        self.group.extend(batch.drain().map(|item| Held {
            ticket: item.ticket,
            deadline: item.deadline,
            input: item.input,
            naming: Naming::Never,
            standing: Standing::Clear,
            in_doubt_as: InDoubtAs::Nothing,
            place: Place::Kept,
        }));
        self.batch = Some(batch);
        self.read(now, Aim::Carry)
    }

    /// Between batches a trip keeps buffers, and nothing in them.
    pub(super) fn finish(&mut self) -> BatchOf<F> {
        self.forget();
        match self.batch.take() {
            Some(batch) => batch,
            None => unreachable!("a stage exists from start to finish, and so does the batch"),
        }
    }

    /// Lets go of everything of the user's but the inputs. Each on its own, in case its `Drop` panics.
    fn forget(&mut self) {
        self.forget_the_fold();
        self.remember(Cause::Refused);
        discard(core::mem::replace(&mut self.doubted_for, Cause::Refused));
        self.ids.drain(..).for_each(discard);
        self.settled.drain(..).for_each(Settled::discard);
    }

    /// What the reads that settle come after.
    pub(super) fn remember(&mut self, cause: Cause<ErrorOf<F>>) {
        discard(core::mem::replace(&mut self.cause, cause));
    }

    pub(super) fn forget_the_fold(&mut self) {
        self.fates.drain(..).for_each(discard);
        self.entries.drain(..).for_each(discard);
    }

    /// Asks for the record, if the group has an input left; else goes on to the next group. A try begins without those whose
    /// deadline has passed.
    pub(super) fn read(mut self: Box<Self>, now: Instant, mut aim: Aim) -> Command<F> {
        loop {
            if matches!(aim, Aim::Carry) {
                self.expire(now);
            }
            self.name_ids();
            if !self.group.is_empty() {
                break;
            }
            let Some(next) = self.later.pop() else {
                return Command::Done(Done { trip: self });
            };
            self.group = next;
            aim = Aim::Carry;
            self.tries_failed = 0;
        }
        self.tally.reads += 1;
        Command::Read(Reading { trip: self, aim })
    }

    /// Asks the group's inputs for their ids; one that panics fails.
    fn name_ids(&mut self) {
        self.ids.drain(..).for_each(discard);
        let mut at = 0;
        while at < self.group.len() {
            match guard(|| self.fold.id(&self.group[at].input)) {
                Ok(id) => {
                    self.ids.push(id);
                    self.group[at].naming = Naming::Once;
                    at += 1;
                }
                Err(message) => self.fail(at, Cause::Panicked(message)),
            }
        }
    }

    /// The inputs that are not answered yet.
    pub(super) fn held(&self) -> impl Iterator<Item = &Held<F>> {
        self.group.iter().chain(self.later.iter().flatten())
    }
}

/// A round trip may be dropped anywhere, by a panic or with its task; one `Drop` of the user's that
/// panics must not meet another.
impl<F: Fold> Drop for Trip<F> {
    fn drop(&mut self) {
        self.forget();
        self.group.drain(..).for_each(Held::discard);
        self.later.drain(..).flatten().for_each(Held::discard);
    }
}
