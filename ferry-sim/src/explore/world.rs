//! How one move leads from one state to the next.

use super::{
    account::{Outcome, Submission},
    flaw::Flaw,
    judge,
    machine::{Event, Kind, Verdict, Wants},
    moves::{Fate, InHand, Move},
    points::{Met, Point},
    scope::Scope,
    state::{Actor, Adrift, Client, Heard, Sent, State},
    store::{Arrival, Write},
    unfolded::{Place, Unfolded},
    violation::Violation,
};

/// The scope of a walk, and the machines as far as they are unfolded.
pub(super) struct World {
    pub(super) scope: Scope,
    pub(super) flaw: Option<Flaw>,
    pub(super) unfolded: Unfolded,
    roots: Vec<Place>,
}

/// What came of a move.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) violations: Vec<Violation>,
    pub(super) met: Met,
    /// Whether the flaw, if there is one, made a difference on the way here.
    pub(super) is_weakened: bool,
}

impl World {
    pub(super) fn new(scope: Scope, flaw: Option<Flaw>) -> Self {
        let mut kinds: Vec<_> = (0..scope.processes).map(Kind::Process).collect();
        kinds.extend((0..scope.resumes).map(|_| Kind::Resumer));
        let (unfolded, roots) = Unfolded::new(&kinds, scope.attempts.into(), flaw);
        Self {
            scope,
            flaw,
            unfolded,
            roots,
        }
    }

    pub(super) fn start(&self) -> State {
        let mut state = State::new(&self.scope, &self.roots);
        if self.flaw == Some(Flaw::NoResume) {
            let resumers = usize::from(self.scope.processes)..;
            state.actors[resumers].fill(Actor::Retired);
        }
        state
    }

    pub(super) fn moves(&self, state: &State) -> Vec<Move> {
        state.moves(&self.scope, &self.unfolded)
    }

    /// Makes a move.
    pub(super) fn takes(&mut self, state: &mut State, step: Move) -> Seen {
        let mut seen = Seen::default();
        match step {
            Move::Steps(actor, fate) => self.steps(state, actor, fate, &mut seen),
            Move::Submits { input, process } => self.submits(state, input, process, &mut seen),
            Move::Crashes(actor, in_hand) => self.crashes(state, actor, in_hand, &mut seen),
            Move::Arrives(nth) => {
                let adrift = state.adrift.remove(nth.into());
                self.drifts_in(state, &adrift, &mut seen);
            }
            Move::IsLost(nth) => {
                state.adrift.remove(nth.into());
            }
            Move::GivesUp(input) => state.clients[usize::from(input)] = Client::Gone,
        }
        state.is_weakened |= state.store.is_weakened;
        seen.is_weakened = state.is_weakened;
        state.forgets(&self.scope, &self.unfolded);
        seen
    }

    /// All have come to rest: the account is resumed once more, and nothing fails.
    pub(super) fn ends(&mut self, mut state: State) -> Seen {
        let mut seen = Seen::default();
        seen.met.meets_if(state.store.is_pending(), Point::DebtLeft);
        if self.flaw == Some(Flaw::NoResume) {
            state.is_weakened |= state.store.is_pending();
        } else {
            let (mut unfolded, roots) =
                Unfolded::new(&[Kind::Resumer], self.scope.attempts.into(), self.flaw);
            let mut place = roots[0];
            loop {
                let event = match unfolded.at(place).wants.clone() {
                    Wants::Read => Event::Read(state.store.record.clone()),
                    Wants::Write(write) => self.arrives(&mut state, &write, &mut seen).0,
                    Wants::Nothing | Wants::Company | Wants::Over(_) => break,
                };
                place = unfolded.after(place, event);
            }
        }
        seen.is_weakened = state.is_weakened || state.store.is_weakened;
        judge::is_over(&state, &mut seen.violations);
        seen
    }

    // ---- steps --------------------------------------------------------------------------------------

    fn steps(&mut self, state: &mut State, actor: u8, fate: Fate, seen: &mut Seen) {
        let Some(place) = state.place(actor) else {
            unreachable!("who steps is alive")
        };
        let event = match self.unfolded.at(place).wants.clone() {
            Wants::Company => Event::Company,
            Wants::Read if fate == Fate::Failed => {
                state.left.failed -= 1;
                seen.met.meets(Point::ReadFailed);
                Event::Failed
            }
            Wants::Read => {
                reads(state, actor);
                Event::Read(state.store.record.clone())
            }
            Wants::Write(write) => self.writes(state, actor, write, fate, seen),
            Wants::Nothing | Wants::Over(_) => unreachable!("who steps wants something"),
        };
        self.is_told(state, actor, event, seen);
    }

    fn writes(
        &mut self,
        state: &mut State,
        actor: u8,
        write: Write,
        fate: Fate,
        seen: &mut Seen,
    ) -> Event {
        meets_foreign_debt(state, actor, &write, seen);
        let event = match fate {
            Fate::Served => {
                let (event, arrival) = self.arrives(state, &write, seen);
                meets_refusal(state, &write, arrival, seen);
                event
            }
            Fate::Failed => {
                state.left.failed -= 1;
                seen.met.meets(Point::WriteFailed);
                Event::Failed
            }
            Fate::AnswerLost => {
                state.left.lost -= 1;
                let arrival = self.arrives_unheard(state, &write, seen);
                let is_landed = arrival != Arrival::Refused;
                seen.met.meets_if(
                    is_landed,
                    match write {
                        Write::Commit { .. } => Point::CommitUnheard,
                        Write::Projection { .. } => Point::ProjectionUnheard,
                    },
                );
                Event::InDoubt
            }
            Fate::Late => {
                set_adrift(state, actor, write.clone());
                Event::InDoubt
            }
        };
        if matches!(event, Event::Refused | Event::InDoubt) {
            opens(state, &write);
        }
        event
    }

    /// A machine hears something, and tells its callers what it knows then.
    fn is_told(&mut self, state: &mut State, actor: u8, event: Event, seen: &mut Seen) {
        let Actor::Alive { place, .. } = &mut state.actors[usize::from(actor)] else {
            unreachable!("who is told something is alive")
        };
        *place = self.unfolded.after(*place, event);
        let response = self.unfolded.at(*place).clone();
        state.is_weakened |= response.is_weakened;
        for (submission, verdict) in response.told {
            seen.met.meets(match verdict {
                Verdict::Projected(_) => Point::ToldProjected,
                Verdict::Committed(_) => Point::ToldCommitted,
                Verdict::NotCommitted => Point::ToldNotCommitted,
                Verdict::InDoubt => Point::ToldInDoubt,
            });
            let is_declined = matches!(
                verdict,
                Verdict::Projected(Outcome::Declined) | Verdict::Committed(Outcome::Declined)
            );
            seen.met.meets_if(is_declined, Point::Declined);
            meets_duplicate(state, submission, verdict, seen);
            judge::hears(state, submission, verdict, &mut seen.violations);
            goes_on(state, submission, verdict);
        }
        if let Wants::Over(resumed) = response.wants {
            meets_resumed(resumed, seen);
            if let (Some(_), Actor::Alive { first_read, .. }) =
                (resumed, state.actors[usize::from(actor)])
            {
                judge::is_resumed(state, first_read, &mut seen.violations);
            }
        }
    }

    // ---- what happens to writes -------------------------------------------------------------------------

    fn arrives(&self, state: &mut State, write: &Write, seen: &mut Seen) -> (Event, Arrival) {
        let before = state.store.clone();
        let arrival = state.store.arrive(write, self.flaw);
        self.is_judged(state, write, &before, arrival, seen);
        let event = match (arrival, write) {
            (Arrival::Refused, _) => Event::Refused,
            (Arrival::Landed(version), Write::Commit { .. }) => Event::Committed(version),
            (Arrival::Landed(_), Write::Projection { .. }) => Event::Projected,
        };
        (event, arrival)
    }

    fn arrives_unheard(&self, state: &mut State, write: &Write, seen: &mut Seen) -> Arrival {
        let before = state.store.clone();
        let arrival = state.store.arrive_unheard(write, self.flaw);
        self.is_judged(state, write, &before, arrival, seen);
        arrival
    }

    fn is_judged(
        &self,
        state: &mut State,
        write: &Write,
        before: &super::store::Store,
        arrival: Arrival,
        seen: &mut Seen,
    ) {
        if arrival == Arrival::Refused {
            return;
        }
        judge::compares(before, state, &mut seen.violations);
        if let Write::Commit {
            state: account,
            entries,
            ..
        } = write
        {
            let is_behind = account.marker != before.marker();
            seen.met.meets_if(is_behind, Point::CommitBehindMovedMarker);
            seen.met.meets_if(entries.len() > 1, Point::Together);
            let is_again = |submission: Submission| submission.attempt > 0;
            let is_again = entries.iter().any(|entry| is_again(entry.submission));
            seen.met.meets_if(is_again, Point::AppliedAgain);
        }
        let balance = state.store.balance();
        for sent in &mut state.sent {
            sent.was_too_much |= balance + self.scope.cents(sent.submission.input) < 0;
        }
    }

    fn drifts_in(&mut self, state: &mut State, adrift: &Adrift, seen: &mut Seen) {
        let Adrift {
            write,
            sender,
            was_read_after,
        } = adrift;
        let version_before = state.store.version();
        let is_landed = self.arrives_unheard(state, write, seen) != Arrival::Refused;
        let is_dead = state.actors[usize::from(*sender)] == Actor::Crashed;
        let point = match (write, is_landed) {
            (Write::Commit { .. }, true) if is_dead => Point::LateCommitAfterDeath,
            (Write::Commit { .. }, true) if *was_read_after => Point::LateCommitAfterReread,
            (Write::Commit { .. }, true) => Point::LateCommitBeforeReread,
            (Write::Commit { .. }, false) => Point::LateCommitRefused,
            (Write::Projection { .. }, true) if is_dead => Point::LateProjectionAfterDeath,
            (Write::Projection { .. }, true) => Point::LateProjectionLanded,
            (Write::Projection { version, .. }, false) if version_before != Some(*version) => {
                Point::LateProjectionBehindCommit
            }
            (Write::Projection { .. }, false) => Point::LateProjectionBehindProjection,
        };
        seen.met.meets(point);
    }

    // ---- clients and crashes --------------------------------------------------------------------------

    fn submits(&mut self, state: &mut State, input: u8, process: u8, seen: &mut Seen) {
        let attempt = match state.clients[usize::from(input)] {
            Client::Wonders { attempts, .. } => attempts,
            Client::New | Client::Waits { .. } | Client::Gone => 0,
        };
        seen.met.meets_if(attempt > 0, Point::SentAgain);
        let submission = Submission { input, attempt };
        let cents = self.scope.cents(input);
        state.clients[usize::from(input)] = Client::Waits { attempt, process };
        state.queues[usize::from(process)].push(submission);
        state.sent.push(Sent {
            submission,
            process,
            heard: Heard::Nothing,
            was_open: false,
            was_too_much: state.store.balance() + cents < 0,
            since: match cents {
                ..0 => state.store.version().unwrap_or(0),
                0.. => 0,
            },
        });
        state.sent.sort_by_key(|sent| sent.submission);
        if let Some(place) = state.place(process) {
            let is_in_flight =
                matches!(self.unfolded.at(place).wants, Wants::Read | Wants::Write(_));
            seen.met.meets_if(is_in_flight, Point::Queued);
        }
        self.is_told(state, process, Event::Submit(submission, cents), seen);
    }

    fn crashes(&mut self, state: &mut State, actor: u8, in_hand: InHand, seen: &mut Seen) {
        let Some(place) = state.place(actor) else {
            unreachable!("who crashes is alive")
        };
        state.left.crashes -= 1;
        if let Wants::Write(write) = self.unfolded.at(place).wants.clone() {
            self.dies_with(state, actor, write, in_hand, seen);
        }
        state.actors[usize::from(actor)] = Actor::Crashed;
        for client in &mut state.clients {
            match *client {
                Client::Waits { attempt, process } if process == actor => {
                    *client = Client::Wonders {
                        attempts: attempt + 1,
                        last: process,
                    };
                }
                Client::New | Client::Waits { .. } | Client::Wonders { .. } | Client::Gone => {}
            }
        }
    }

    fn dies_with(
        &mut self,
        state: &mut State,
        actor: u8,
        write: Write,
        in_hand: InHand,
        seen: &mut Seen,
    ) {
        let is_projection = matches!(write, Write::Projection { .. });
        let is_own = matches!(write, Write::Projection { by_resume: false, version, .. }
            if state.store.version() == Some(version));
        match in_hand {
            InHand::Nothing => {
                seen.met.meets(Point::CrashInHand);
                seen.met.meets_if(is_own, Point::CrashBetween);
            }
            InHand::Arrives => {
                let is_landed = self.arrives_unheard(state, &write, seen) != Arrival::Refused;
                seen.met.meets_if(
                    is_landed,
                    match is_projection {
                        true => Point::CrashAfterProjection,
                        false => Point::CrashAfterCommit,
                    },
                );
            }
            InHand::Late => set_adrift(state, actor, write),
        }
    }
}

fn reads(state: &mut State, actor: u8) {
    for adrift in &mut state.adrift {
        adrift.was_read_after |= adrift.sender == actor;
    }
    let version = state.store.version().unwrap_or(0);
    let is_resumer = usize::from(actor) >= state.queues.len();
    if let Actor::Alive { first_read, .. } = &mut state.actors[usize::from(actor)] {
        if is_resumer {
            first_read.get_or_insert(version);
        }
    }
}

fn set_adrift(state: &mut State, sender: u8, write: Write) {
    state.left.late -= 1;
    state.adrift.push(Adrift {
        write,
        sender,
        was_read_after: false,
    });
}

/// What a commit was to apply may be in the log, as far as its sender knows.
fn opens(state: &mut State, write: &Write) {
    if let Write::Commit { entries, .. } = write {
        for entry in entries {
            if let Some(sent) = state.sent(entry.submission) {
                sent.was_open = true;
            }
        }
    }
}

/// What a client does when it has heard this.
fn goes_on(state: &mut State, submission: Submission, verdict: Verdict) {
    let client = &mut state.clients[usize::from(submission.input)];
    let Client::Waits { attempt, process } = *client else {
        return;
    };
    if attempt != submission.attempt {
        return;
    }
    *client = match verdict {
        Verdict::Projected(_) | Verdict::Committed(_) => Client::Gone,
        Verdict::NotCommitted | Verdict::InDoubt => Client::Wonders {
            attempts: attempt + 1,
            last: process,
        },
    };
}

fn meets_refusal(state: &State, write: &Write, arrival: Arrival, seen: &mut Seen) {
    if arrival != Arrival::Refused {
        return;
    }
    seen.met.meets(match write {
        Write::Commit { .. } => Point::CommitRefused,
        Write::Projection { version, .. } if state.store.version() != Some(*version) => {
            Point::ProjectionRefusedByCommit
        }
        Write::Projection { .. } => Point::ProjectionRefusedByProjection,
    });
    let is_resume = matches!(
        write,
        Write::Projection {
            by_resume: true,
            ..
        }
    );
    seen.met.meets_if(is_resume, Point::ResumeOvertaken);
}

/// A process is about to project what none of its own inputs brought.
fn meets_foreign_debt(state: &State, actor: u8, write: &Write, seen: &mut Seen) {
    let (Write::Projection { version, .. }, Some(queue)) =
        (write, state.queues.get(usize::from(actor)))
    else {
        return;
    };
    let mut of_version = (state.store.log.iter()).filter(|logged| logged.version == *version);
    let is_foreign = of_version.all(|logged| !queue.contains(&logged.submission()));
    seen.met.meets_if(is_foreign, Point::ForeignDebt);
}

fn meets_duplicate(state: &State, submission: Submission, verdict: Verdict, seen: &mut Seen) {
    let is_outcome = matches!(verdict, Verdict::Projected(_) | Verdict::Committed(_));
    let by_another = |logged: &super::store::Logged| {
        let of = logged.submission();
        of.input == submission.input && of != submission
    };
    let is_duplicate = is_outcome && state.store.log.iter().any(by_another);
    seen.met.meets_if(is_duplicate, Point::Duplicate);
}

fn meets_resumed(resumed: Option<ferry_core::projected_write::resume::Resumed>, seen: &mut Seen) {
    use ferry_core::projected_write::resume::Resumed;
    seen.met.meets(match resumed {
        Some(Resumed::NothingPending) => Point::ResumedNothing,
        Some(_) => Point::ResumedDebt,
        None => Point::ResumeGaveUp,
    });
}
