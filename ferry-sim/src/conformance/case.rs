//! One key of a check, and the steps that its story is told in.

use ferry_core::{Class, Commit, CommitError, Fault, Fold, Record, RecordOf, Schema, Step};

use super::{
    check::{End, Finding, Lack},
    handle::Handle,
    subject::{Deletion, InputOf, KeyOf, SchemaOf, StateOf, Subject},
};

/// How often a call is made that fails in passing.
pub(super) const TRIES_MAX: u32 = 50;

pub(super) type Kept<S> = RecordOf<SchemaOf<S>>;
pub(super) type VersionOf<S> = <SchemaOf<S> as Schema>::Version;
pub(super) type ErrorOf<S> = <SchemaOf<S> as Schema>::Error;
pub(super) type Answered<S> = Result<VersionOf<S>, CommitError<ErrorOf<S>>>;

/// A key that nobody else uses.
pub(super) struct Case<'s, S: Subject> {
    pub(super) subject: &'s S,
    pub(super) key: KeyOf<S>,
    /// The number whose input is a large one.
    pub(super) large: Option<u32>,
    /// What is known of a record that was deleted is up to the store.
    pub(super) was_deleted: bool,
}

/// A commit that is ready to be sent, once or more.
pub(super) struct Draft<S: Subject> {
    pub(super) expected: Option<VersionOf<S>>,
    pub(super) state: StateOf<S>,
    pub(super) entries: Vec<<SchemaOf<S> as Schema>::Entry>,
    pub(super) numbers: Vec<u32>,
}

/// What a commit was told in the end, faults that pass and doubts aside.
pub(super) enum Told {
    Landed,
    Refused,
    /// That it can never land.
    Permanent(String),
    /// Nothing but faults that pass, or doubts.
    Unsettled(String),
}

impl<'s, S: Subject> Case<'s, S> {
    pub(super) fn new(subject: &'s S) -> Self {
        Self {
            subject,
            key: subject.fresh_key(),
            large: None,
            was_deleted: false,
        }
    }

    pub(super) fn input(&self, number: u32) -> InputOf<S> {
        let large = (self.large == Some(number)).then(|| self.subject.large_input(number));
        large
            .flatten()
            .unwrap_or_else(|| self.subject.input(number))
    }

    fn ids(&self, numbers: &[u32]) -> Vec<<SchemaOf<S> as Schema>::Id> {
        let fold = self.subject.fold();
        numbers
            .iter()
            .map(|&number| fold.id(&self.input(number)))
            .collect()
    }

    pub(super) async fn read_once(
        &self,
        store: &S::Store,
        numbers: &[u32],
    ) -> Result<Option<Kept<S>>, Fault<ErrorOf<S>>> {
        store.read(&self.key, &self.ids(numbers)).await
    }

    /// Reads, again where that fails in passing.
    pub(super) async fn read(
        &self,
        store: &S::Store,
        numbers: &[u32],
    ) -> Result<Option<Kept<S>>, Finding> {
        let mut failed = String::new();
        for _ in 0..TRIES_MAX {
            match self.read_once(store, numbers).await {
                Ok(record) => return Ok(record),
                Err(fault) => {
                    failed = tell_fault(&fault);
                    if fault.class == Class::Permanent {
                        break;
                    }
                    self.subject.pause().await;
                }
            }
        }
        Err(Finding::new("a read that is answered", failed))
    }

    /// As [`read`](Self::read), where there has to be a record.
    pub(super) async fn record(
        &self,
        store: &S::Store,
        numbers: &[u32],
    ) -> Result<Kept<S>, Finding> {
        let record = self.read(store, numbers).await?;
        record.ok_or_else(|| Finding::new("a record, since a commit has landed", "no record"))
    }

    /// Folds inputs that were never applied on what was read.
    pub(super) fn draft(
        &self,
        seen: Option<Kept<S>>,
        numbers: &[u32],
    ) -> Result<Draft<S>, Finding> {
        let fold = self.subject.fold();
        let (expected, mut state) = match seen {
            Some(Record { state, version }) => (Some(version), state),
            None => (None, fold.empty(&self.key)),
        };
        let mut entries = Vec::with_capacity(numbers.len());
        for &number in numbers {
            match fold.step(&mut state, &self.input(number)) {
                Step::Applied(entry, _) => entries.push(entry),
                step @ (Step::Already(_)
                | Step::Refused(_)
                | Step::Mismatch(_)
                | Step::TooOld(_)) => {
                    return Err(Finding::new(
                        format!("input {number}, which was never applied, to be applied"),
                        tell_step(&step),
                    ));
                }
            }
        }
        let numbers = numbers.to_vec();
        Ok(Draft {
            expected,
            state,
            entries,
            numbers,
        })
    }

    /// Reads and folds.
    pub(super) async fn drafted(
        &self,
        store: &S::Store,
        numbers: &[u32],
    ) -> Result<Draft<S>, Finding> {
        let seen = self.read(store, numbers).await?;
        self.draft(seen, numbers)
    }

    /// Sends a commit once.
    pub(super) async fn send(&self, store: &S::Store, draft: &Draft<S>) -> Answered<S> {
        let commit = Commit {
            expected: draft.expected.as_ref(),
            state: &draft.state,
            entries: &draft.entries,
        };
        store.commit(&self.key, commit).await
    }

    /// Sends a commit until it is told something that lasts.
    pub(super) async fn settle(&self, store: &S::Store, draft: &Draft<S>) -> Told {
        let mut unsettled = String::new();
        for _ in 0..TRIES_MAX {
            match self.send(store, draft).await {
                Ok(_) => return Told::Landed,
                Err(CommitError::Refused) => return Told::Refused,
                Err(CommitError::NotLanded(fault)) if fault.class == Class::Permanent => {
                    return Told::Permanent(tell_fault(&fault));
                }
                Err(error) => unsettled = tell_error(&error),
            }
            self.subject.pause().await;
        }
        Told::Unsettled(unsettled)
    }

    /// Reads, folds and commits, where nobody else writes to the key. The record as it was committed.
    pub(super) async fn land(&self, store: &S::Store, numbers: &[u32]) -> Result<Kept<S>, Finding> {
        let alone = |answer| {
            Finding::new(
                "a commit on what was just read to land, since nobody else writes to the key",
                answer,
            )
        };
        let mut told = Told::Refused;
        let mut has_doubt = false;
        for _ in 0..TRIES_MAX {
            if let Some(record) = self.in_spite_of(has_doubt, store, numbers).await? {
                return Ok(record);
            }
            let draft = self.drafted(store, numbers).await?;
            match self.send(store, &draft).await {
                Ok(version) => {
                    let state = draft.state;
                    return Ok(Record { state, version });
                }
                Err(CommitError::Refused) if !has_doubt => return Err(alone("refused".into())),
                Err(CommitError::NotLanded(fault)) if fault.class == Class::Permanent => {
                    return Err(alone(tell_fault(&fault)));
                }
                Err(error) => {
                    has_doubt |= matches!(error, CommitError::InDoubt(_));
                    told = Told::Unsettled(tell_error(&error));
                }
            }
            self.subject.pause().await;
        }
        Err(alone(told.to_string()))
    }

    /// What has landed though nobody said so.
    async fn in_spite_of(
        &self,
        has_doubt: bool,
        store: &S::Store,
        numbers: &[u32],
    ) -> Result<Option<Kept<S>>, Finding> {
        let Some(first) = numbers.first().filter(|_| has_doubt) else {
            return Ok(None);
        };
        let Some(mut record) = self.read(store, numbers).await? else {
            return Ok(None);
        };
        if !self.knows(&mut record.state, *first) {
            return Ok(None);
        }
        self.read(store, numbers).await
    }

    /// Has an input land where others, or commits that were given up, may be under way.
    pub(super) async fn overtake(&self, store: &S::Store, number: u32) -> Result<(), Finding> {
        let mut told = String::new();
        for _ in 0..TRIES_MAX {
            let record = self.read(store, &[number]).await?;
            if record.is_some_and(|mut record| self.knows(&mut record.state, number)) {
                return Ok(());
            }
            let draft = self.drafted(store, &[number]).await?;
            match self.send(store, &draft).await {
                Ok(_) => return Ok(()),
                Err(error) => told = tell_error(&error),
            }
            self.subject.pause().await;
        }
        let expected = "a commit to land that reads again whenever it is turned away";
        Err(Finding::new(
            expected,
            format!("{told}, the last of {TRIES_MAX} times"),
        ))
    }

    /// Has a commit land on which nothing can have come in between.
    pub(super) async fn lands(&self, store: &S::Store, draft: &Draft<S>) -> Result<(), Finding> {
        let told = self.settle(store, draft).await;
        if matches!(told, Told::Landed) {
            return Ok(());
        }
        // A first copy that was in doubt may have landed.
        let number = draft.numbers[0];
        let record = self.read(store, &[number]).await?;
        if record.is_some_and(|mut record| self.knows(&mut record.state, number)) {
            return Ok(());
        }
        let expected = "a commit to land on a record that nobody has changed since it was read";
        Err(Finding::new(expected, told.to_string()))
    }

    /// Whether the state holds the input. The state is spent if it does not.
    pub(super) fn knows(&self, state: &mut StateOf<S>, number: u32) -> bool {
        let step = self.subject.fold().step(state, &self.input(number));
        matches!(step, Step::Already(_))
    }

    /// Deletes the record.
    pub(super) async fn delete(&mut self, store: &S::Store) -> Result<(), End> {
        match self.subject.delete(store, &self.key).await {
            Deletion::Done => {
                self.was_deleted = true;
                Ok(())
            }
            Deletion::NotOffered => Err(Lack::Deletion.into()),
        }
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Landed => f.write_str("it says that it landed"),
            Self::Refused => f.write_str("refused"),
            Self::Permanent(error) => f.write_str(error),
            Self::Unsettled(error) => write!(f, "{error}, {TRIES_MAX} times in a row"),
        }
    }
}

fn tell_fault<E: std::fmt::Display>(fault: &Fault<E>) -> String {
    format!("nothing written: {fault}")
}

pub(super) fn tell_error<E: std::fmt::Display>(error: &CommitError<E>) -> String {
    match error {
        CommitError::Refused => "refused".to_owned(),
        CommitError::NotLanded(fault) => tell_fault(fault),
        CommitError::InDoubt(error) => format!("in doubt: {error}"),
    }
}

pub(super) fn tell_step<E, O: std::fmt::Debug>(step: &Step<E, O>) -> String {
    match step {
        Step::Applied(_, outcome) => format!("not known, so applied now, with outcome {outcome:?}"),
        Step::Already(outcome) => format!("already applied, with outcome {outcome:?}"),
        Step::Refused(outcome) => format!("declined by the fold, with outcome {outcome:?}"),
        Step::Mismatch(outcome) => {
            format!("known with other content, with outcome {outcome:?}")
        }
        Step::TooOld(outcome) => format!("older than what is remembered, with outcome {outcome:?}"),
    }
}
