//! What has to hold, judged by the store's true log.

use super::{
    account::{Outcome, Submission},
    machine::Verdict,
    state::{Heard, State},
    store::{Logged, Store},
    violation::Violation,
};

/// A caller hears this.
pub(super) fn hears(
    state: &mut State,
    submission: Submission,
    verdict: Verdict,
    found: &mut Vec<Violation>,
) {
    let store = state.store.clone();
    let Some(sent) = state.sent(submission) else {
        unreachable!("it was sent")
    };
    sent.heard = match verdict {
        Verdict::Projected(_) | Verdict::Committed(_) => Heard::Outcome,
        Verdict::NotCommitted => Heard::NotCommitted,
        Verdict::InDoubt => Heard::NoMatter,
    };
    let sent = *sent;
    if let Verdict::Projected(outcome) | Verdict::Committed(outcome) = verdict {
        let entry = entry_of(&store, submission.input);
        match (outcome, entry) {
            (Outcome::Declined, _) if sent.was_too_much => {}
            (Outcome::Declined, _) => found.push(Violation::NeverTooMuch { submission }),
            (Outcome::Balance(_), None) => found.push(Violation::NotInTheLog { submission }),
            (Outcome::Balance(heard), Some((_, balance))) if heard == balance => {}
            (Outcome::Balance(_), Some(_)) => found.push(Violation::WrongOutcome { submission }),
        }
    }
    match verdict {
        Verdict::Projected(Outcome::Balance(_)) => {
            if !store.view.inputs.contains(&submission.input) {
                found.push(Violation::NotInTheView { submission });
            }
        }
        Verdict::Projected(Outcome::Declined) => {
            if store.view.version < sent.since {
                found.push(Violation::NotInTheView { submission });
            }
        }
        Verdict::NotCommitted => {
            if store
                .log
                .iter()
                .any(|logged| logged.submission() == submission)
            {
                found.push(Violation::CommittedAllTheSame { submission });
            }
        }
        Verdict::InDoubt => {
            // Of one that is stored already, it is true enough.
            if !sent.was_open && entry_of(&store, submission.input).is_none() {
                found.push(Violation::NeverInDoubt { submission });
            }
        }
        Verdict::Committed(_) => {}
    }
}

/// Where the log has the input first, and the balance with it.
fn entry_of(store: &Store, input: u8) -> Option<(usize, i16)> {
    let mut balance = 0;
    (store.log.iter().enumerate()).find_map(|(at, logged)| {
        balance += logged.entry.cents;
        (logged.submission().input == input).then_some((at, balance))
    })
}

/// A resume is over that did not come to grief.
pub(super) fn is_resumed(state: &State, first_read: Option<u8>, found: &mut Vec<Violation>) {
    let (first_read, shown) = (first_read.unwrap_or(0), state.store.view.version);
    if shown < first_read {
        found.push(Violation::ResumedTooLittle { first_read, shown });
    }
}

/// A write has taken effect.
pub(super) fn compares(before: &Store, state: &State, found: &mut Vec<Violation>) {
    let after = &state.store;
    for logged in &after.log[before.log.len()..] {
        is_applied(logged, state, found);
    }
    nothing_is_gone(state, found);
    let (from, to) = (before.marker(), after.marker());
    if to < from {
        found.push(Violation::MarkerWentBack { from, to });
    }
    let (from, to) = (before.view.version, after.view.version);
    if to < from {
        found.push(Violation::ViewWentBack { from, to });
    }
    is_view_of_one_version(after, found);
}

fn is_applied(logged: &Logged, state: &State, found: &mut Vec<Violation>) {
    let submission = logged.submission();
    let of_input = |other: &&Logged| other.submission().input == submission.input;
    if state.store.log.iter().filter(of_input).count() > 1 {
        found.push(Violation::AppliedTwice { submission });
    }
    let is_denied = (state.sent.iter())
        .any(|sent| sent.submission == submission && sent.heard == Heard::NotCommitted);
    if is_denied {
        found.push(Violation::CommittedAllTheSame { submission });
    }
    let log = &state.store.log;
    let place = |submission| {
        log.iter()
            .position(|logged| logged.submission() == submission)
    };
    for queue in &state.queues {
        let Some(turn) = queue.iter().position(|queued| *queued == submission) else {
            continue;
        };
        for &by in &queue[turn + 1..] {
            if place(by).is_some_and(|by| Some(by) < place(submission)) {
                found.push(Violation::Overtaken { submission, by });
            }
        }
    }
}

fn nothing_is_gone(state: &State, found: &mut Vec<Violation>) {
    let record = state.store.record.as_ref();
    for sent in state
        .sent
        .iter()
        .filter(|sent| sent.heard == Heard::Outcome)
    {
        let submission = sent.submission;
        let is_logged = entry_of(&state.store, submission.input).is_some();
        let is_held =
            record.is_some_and(|record| record.state.outcome_of(submission.input).is_some());
        if is_logged && !is_held {
            found.push(Violation::NotInTheRecord { submission });
        }
    }
}

fn is_view_of_one_version(store: &Store, found: &mut Vec<Violation>) {
    let view = &store.view;
    let twice = |(at, input): (usize, &u8)| view.inputs[..at].contains(input).then_some(*input);
    if let Some(input) = view.inputs.iter().enumerate().find_map(twice) {
        found.push(Violation::ProjectedTwice { input });
    }
    let truth = || {
        store
            .log
            .iter()
            .filter(|logged| logged.version <= view.version)
    };
    let inputs = truth().map(|logged| logged.submission().input);
    let balance: i16 = truth().map(|logged| logged.entry.cents).sum();
    if !inputs.eq(view.inputs.iter().copied()) || balance != view.balance {
        let version = view.version;
        found.push(Violation::ViewOfNoVersion { version });
    }
}

/// All have come to rest, and the account was resumed once more.
pub(super) fn is_over(state: &State, found: &mut Vec<Violation>) {
    let store = &state.store;
    let (version, marker) = (store.version().unwrap_or(0), store.marker());
    if store.is_pending() {
        found.push(Violation::StillPending { version, marker });
    } else if store.view.inputs.len() != store.log.len() || store.view.version != version {
        found.push(Violation::ViewIncomplete {
            entries: store.log.len(),
            shown: store.view.inputs.len(),
        });
    }
    let waiting = state
        .sent
        .iter()
        .filter(|sent| sent.heard == Heard::Nothing);
    found.extend(waiting.map(|sent| Violation::Unanswered {
        submission: sent.submission,
    }));
}
