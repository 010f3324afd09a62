//! What must hold of a store and of the answers, judged by the store's true log.

use std::{collections::BTreeSet, fmt, io};

use ferry_core::{Answer, Durability, Failure, per_key::Ticket, projected_write::resume::Resumed};

use crate::{
    deposits::{BEYOND, Deposit, MISMATCH},
    store::{Logged, Store, View, Writer},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    /// No input is applied twice.
    AppliedOnce,
    /// Every answer is true, when it is given and after.
    AnswersTrue,
    /// What was acknowledged is in the record at the end.
    NothingLost,
    /// Every committed record is projected in the end.
    Projected,
    /// View and marker never go back, and the view is that of one version, each entry in it once.
    ViewInStep,
    /// Every caller of a process that lives is answered, once.
    Answered,
}

pub(crate) struct Breach {
    pub(crate) property: Property,
    what: String,
}

impl fmt::Debug for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.property, self.what)
    }
}

/// A batch that was sent.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) inputs: Vec<(Ticket, Deposit)>,
    /// The oldest version that was read for it; 0 for none.
    pub(crate) oldest: Option<u64>,
    pub(crate) heard: Vec<Heard>,
    pub(crate) has_died: bool,
}

pub(crate) type Verdict = Result<Answer<i64, io::Error>, Failure<io::Error>>;

#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) ticket: Ticket,
    pub(crate) deposit: Deposit,
    pub(crate) result: Verdict,
}

#[derive(Debug, Default)]
pub(crate) struct Judge {
    pub(crate) breaches: Vec<Breach>,
    /// As last seen.
    view: View,
    marker: u64,
}

impl Judge {
    fn rule(&mut self, property: Property, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            let what = what();
            self.breaches.push(Breach { property, what });
        }
    }

    // ---- at all times -----------------------------------------------------------------------------

    /// Something has arrived at the store.
    pub(crate) fn looks_at(&mut self, store: &Store) {
        let (view, marker) = (store.view.clone(), store.marker());
        let in_step = Property::ViewInStep;
        self.rule(in_step, marker >= self.marker, || {
            format!("the marker went back to {marker}")
        });
        let goes_on = view.version >= self.view.version;
        self.rule(in_step, goes_on, || format!("the view went back: {view:?}"));
        let mut before = self.view.ids.iter().copied();
        let gone = before.find(|id| !view.ids.contains(id));
        self.rule(in_step, gone.is_none(), || {
            format!("{gone:?} left the view")
        });

        let shown = |logged: &&Logged| {
            logged.version <= view.version || view.early.contains(&logged.deposit.id)
        };
        let mut truth: Vec<_> = (store.log.iter().filter(shown))
            .map(|logged| logged.deposit.id)
            .collect();
        let balance: i64 = (store.log.iter().filter(shown))
            .map(|logged| logged.deposit.cents)
            .sum();
        let mut ids = view.ids.clone();
        truth.sort_unstable();
        ids.sort_unstable();
        self.rule(in_step, ids == truth && balance == view.balance, || {
            format!("{view:?} is not of one version: {truth:?}")
        });
        (self.view, self.marker) = (view, marker);
    }

    // ---- answers ----------------------------------------------------------------------------------

    /// A caller is told something.
    pub(crate) fn listens(&mut self, store: &Store, sent: &mut Sent, heard: Heard) {
        if let Ok(Answer {
            outcome,
            durability,
        }) = &heard.result
        {
            self.rule(
                Property::AnswersTrue,
                is_durable(store, heard.deposit, *outcome),
                || format!("{heard:?} is not durable"),
            );
            if matches!(durability, Durability::Projected) {
                self.is_projected(store, sent.oldest, heard.deposit, *outcome);
            }
        }
        sent.heard.push(heard);
    }

    /// A caller is told that the view shows its outcome.
    pub(crate) fn is_projected(
        &mut self,
        store: &Store,
        oldest: Option<u64>,
        deposit: Deposit,
        outcome: i64,
    ) {
        let is_shown = match outcome {
            BEYOND => store.view.version >= oldest.unwrap_or(0),
            _ => store.view.ids.contains(&deposit.id),
        };
        self.rule(Property::AnswersTrue, is_shown, || {
            format!("{deposit:?} is not shown by {:?}", store.view)
        });
    }

    /// A resume is over that had seen this version, and the record pending or not.
    pub(crate) fn is_resumed(&mut self, store: &Store, first: Option<u64>, resumed: Resumed) {
        let is_shown = store.view.version >= first.unwrap_or(0);
        self.rule(Property::AnswersTrue, is_shown, || {
            format!(
                "{resumed:?}, and {first:?} is not shown by {:?}",
                store.view
            )
        });
    }

    // ---- at the end -------------------------------------------------------------------------------

    pub(crate) fn sums_up(&mut self, store: &Store, sent: &[Sent]) {
        let ids = store.ids();
        let once: BTreeSet<_> = ids.iter().collect();
        self.rule(Property::AppliedOnce, once.len() == ids.len(), || {
            format!("{ids:?}")
        });
        for (number, sent) in sent.iter().enumerate() {
            self.everyone_heard_once(sent);
            for heard in &sent.heard {
                self.still_holds(store, Writer(number), heard);
            }
        }
    }

    fn everyone_heard_once(&mut self, sent: &Sent) {
        for (ticket, deposit) in &sent.inputs {
            let heard = sent.heard.iter().filter(|heard| heard.ticket == *ticket);
            let times = heard.count();
            let is_answered = times == 1 || (sent.has_died && times == 0);
            self.rule(Property::Answered, is_answered, || {
                format!("{deposit:?} was answered {times} times")
            });
        }
    }

    fn still_holds(&mut self, store: &Store, writer: Writer, heard: &Heard) {
        let deposit = heard.deposit;
        let is_ours = |logged: &Logged| logged.deposit == deposit && logged.writer == writer;
        match &heard.result {
            Ok(answer) if matches!(answer.outcome, BEYOND | MISMATCH) => {}
            Ok(answer) => {
                let record = store.read();
                let known = record.and_then(|record| {
                    let known = record.state.applied.get(&deposit.id).copied();
                    known.filter(|known| *known == (deposit.cents, answer.outcome))
                });
                self.rule(Property::NothingLost, known.is_some(), || {
                    format!("{heard:?} is lost")
                });
            }
            Err(Failure::NotCommitted(_)) => {
                let is_written = store.log.iter().any(is_ours);
                self.rule(Property::AnswersTrue, !is_written, || {
                    format!("{heard:?} was committed")
                });
            }
            Err(Failure::InDoubt(_)) => {}
        }
    }

    /// All is well again, and the key was resumed once.
    pub(crate) fn is_healed(&mut self, store: &Store, was_pending: bool, resumed: &str) {
        let expected = match was_pending {
            true => "Ok(Projected)",
            false => "Ok(NothingPending)",
        };
        self.rule(Property::Projected, resumed == expected, || {
            format!("{resumed} instead of {expected}")
        });
        let view = &store.view;
        let is_whole = !store.is_pending()
            && view.early.is_empty()
            && view.version == store.version().unwrap_or(0)
            && view.ids.len() == store.log.len();
        self.rule(Property::Projected, is_whole, || {
            format!("{view:?} is late for {:?}", store.read())
        });
    }
}

/// Whether the log bears an outcome out.
fn is_durable(store: &Store, deposit: Deposit, outcome: i64) -> bool {
    let mut log = store.log.iter().map(|logged| logged.deposit);
    match outcome {
        BEYOND => deposit.cents < 0,
        MISMATCH => log.any(|entry| entry.id == deposit.id && entry != deposit),
        balance => {
            let upto: Vec<_> = log.collect();
            let at = upto.iter().position(|entry| *entry == deposit);
            at.is_some_and(|at| upto[..=at].iter().map(|entry| entry.cents).sum::<i64>() == balance)
        }
    }
}
