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
    let (marker, shown) = (after.marker(), after.view.version);
    if marker > shown {
        found.push(Violation::MarkerAhead { marker, shown });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{
        account::{Account, Entry},
        scope::Scope,
        state::Sent,
        store::Write,
    };

    const A: Submission = Submission {
        input: 0,
        attempt: 0,
    };

    /// A was sent, and nothing came of it yet.
    fn sent() -> State {
        let mut state = State::new(&Scope::default(), &[]);
        state.sent.push(Sent {
            submission: A,
            process: 0,
            heard: Heard::Nothing,
            was_open: false,
            was_too_much: false,
            since: 0,
        });
        state
    }

    /// A was committed as well, and brought two.
    fn committed() -> State {
        let mut state = sent();
        let write = Write::Commit {
            expected: None,
            state: Account {
                balance: 2,
                applied: vec![(0, 2)],
                marker: 0,
            },
            entries: vec![Entry {
                submission: A,
                cents: 2,
            }],
        };
        state.store.arrive(&write, None);
        state
    }

    fn found(mut state: State, verdict: Verdict) -> Vec<Violation> {
        let mut found = Vec::new();
        hears(&mut state, A, verdict, &mut found);
        found
    }

    #[test]
    fn an_outcome_is_held_against_the_log() {
        let told = |balance| found(committed(), Verdict::Committed(Outcome::Balance(balance)));
        assert_eq!(told(2), []);
        assert_eq!(told(3), [Violation::WrongOutcome { submission: A }]);
        let early = found(sent(), Verdict::Committed(Outcome::Balance(2)));
        assert_eq!(early, [Violation::NotInTheLog { submission: A }]);
    }

    #[test]
    fn who_is_declined_was_too_much_at_some_time() {
        let declined = Verdict::Committed(Outcome::Declined);
        assert_eq!(
            found(sent(), declined),
            [Violation::NeverTooMuch { submission: A }]
        );
        let mut state = sent();
        state.sent[0].was_too_much = true;
        assert_eq!(found(state, declined), []);
    }

    #[test]
    fn who_is_declined_as_projected_sees_what_was_there_before() {
        let mut state = committed();
        state.sent[0].was_too_much = true;
        state.sent[0].since = 1;
        let declined = Verdict::Projected(Outcome::Declined);
        assert_eq!(
            found(state.clone(), declined),
            [Violation::NotInTheView { submission: A }]
        );
        state.store.view.version = 1;
        assert_eq!(found(state, declined), []);
    }

    #[test]
    fn in_doubt_is_said_of_what_may_be_written_alone() {
        assert_eq!(
            found(sent(), Verdict::InDoubt),
            [Violation::NeverInDoubt { submission: A }]
        );
        assert_eq!(found(committed(), Verdict::InDoubt), []);
        let mut state = sent();
        state.sent[0].was_open = true;
        assert_eq!(found(state, Verdict::InDoubt), []);
    }

    #[test]
    fn a_resume_is_over_when_the_view_shows_what_it_has_read() {
        let mut all = Vec::new();
        is_resumed(&committed(), None, &mut all);
        assert_eq!(all, []);
        is_resumed(&committed(), Some(1), &mut all);
        let (first_read, shown) = (1, 0);
        assert_eq!(all, [Violation::ResumedTooLittle { first_read, shown }]);
    }

    #[test]
    fn a_marker_that_says_more_than_the_view_shows_is_noticed() {
        let mut state = committed();
        if let Some(record) = &mut state.store.record {
            record.state.marker = 1;
        }
        let (mut all, before) = (Vec::new(), committed().store);
        compares(&before, &state, &mut all);
        let (marker, shown) = (1, 0);
        assert_eq!(all[0], Violation::MarkerAhead { marker, shown });
    }

    #[test]
    fn a_view_that_goes_back_is_noticed() {
        let mut before = committed();
        before.store.view.version = 2;
        let mut all = Vec::new();
        compares(&before.store.clone(), &committed(), &mut all);
        assert!(
            all.contains(&Violation::ViewWentBack { from: 2, to: 0 }),
            "{all:?}"
        );
    }
}
