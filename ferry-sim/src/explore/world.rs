//! How one move leads from one state to the next.

use super::{
    account::Submission,
    flaw::Flaw,
    judge,
    machine::{Event, Kind, Verdict, Wants},
    meeting,
    moves::{Fate, InHand, Move},
    points::{Met, Point},
    scope::Scope,
    state::{Actor, Adrift, Client, Heard, Sent, State},
    store::{Arrival, Store, Write},
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
    /// Who was told something, and where that led it: what it then told its callers is there.
    pub(super) told_at: Option<(u8, Place)>,
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
                    Wants::Read(_) => Event::Read(state.store.record.clone()),
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
            Wants::Read(_) if fate == Fate::Failed => {
                state.left.failed -= 1;
                seen.met.meets(Point::ReadFailed);
                Event::Failed
            }
            Wants::Read(_) => {
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
        meeting::sent(state, actor, &write, &mut seen.met);
        let event = match fate {
            Fate::Served => {
                let (event, arrival) = self.arrives(state, &write, seen);
                meeting::heard(state, &write, arrival, &mut seen.met);
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
                meeting::unheard(&write, arrival, &mut seen.met);
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
        let Actor::Alive { place, first_read } = &mut state.actors[usize::from(actor)] else {
            unreachable!("who is told something is alive")
        };
        *place = self.unfolded.after(*place, event);
        let first_read = *first_read;
        seen.told_at = Some((actor, *place));
        let response = self.unfolded.at(*place);
        state.is_weakened |= response.is_weakened;
        for &(submission, verdict) in &response.told {
            meeting::told(state, submission, verdict, &mut seen.met);
            judge::hears(state, submission, verdict, &mut seen.violations);
            goes_on(state, submission, verdict);
        }
        if let Wants::Over(resumed) = response.wants {
            meeting::resumed(resumed, &mut seen.met);
            if resumed.is_some() {
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
        before: &Store,
        arrival: Arrival,
        seen: &mut Seen,
    ) {
        if arrival == Arrival::Refused {
            return;
        }
        judge::compares(before, state, &mut seen.violations);
        meeting::landed(before, write, &mut seen.met);
        let balance = state.store.balance();
        for sent in &mut state.sent {
            sent.was_too_much |= balance + self.scope.cents(sent.submission.input) < 0;
        }
    }

    fn drifts_in(&mut self, state: &mut State, adrift: &Adrift, seen: &mut Seen) {
        let version_before = state.store.version();
        let arrival = self.arrives_unheard(state, &adrift.write, seen);
        meeting::drifted_in(state, adrift, version_before, arrival, &mut seen.met);
    }

    // ---- clients and crashes --------------------------------------------------------------------------

    fn submits(&mut self, state: &mut State, input: u8, process: u8, seen: &mut Seen) {
        let attempt = match state.clients[usize::from(input)] {
            Client::Wonders { attempts, .. } => attempts,
            Client::Waits { attempt, .. } => {
                seen.met.meets(Point::SentAtOnce);
                state.left.impatient -= 1;
                attempt + 1
            }
            Client::New | Client::Gone => 0,
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
            let is_in_flight = matches!(
                self.unfolded.at(place).wants,
                Wants::Read(_) | Wants::Write(_)
            );
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
        for sent in &mut state.sent {
            if sent.process == actor && sent.heard == Heard::Nothing {
                sent.heard = Heard::NoMatter;
            }
        }
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
        match in_hand {
            InHand::Nothing => meeting::died_before(state, &write, &mut seen.met),
            InHand::Arrives => {
                let arrival = self.arrives_unheard(state, &write, seen);
                meeting::died_after(&write, arrival, &mut seen.met);
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

/// What a client does when it has heard this, from whichever attempt.
fn goes_on(state: &mut State, submission: Submission, verdict: Verdict) {
    let client = &mut state.clients[usize::from(submission.input)];
    match (verdict, *client) {
        (Verdict::Projected(_) | Verdict::Committed(_), _) => *client = Client::Gone,
        (Verdict::NotCommitted | Verdict::InDoubt, Client::Waits { attempt, process })
            if attempt == submission.attempt =>
        {
            *client = Client::Wonders {
                attempts: attempt + 1,
                last: process,
            };
        }
        (Verdict::NotCommitted | Verdict::InDoubt, _) => {}
    }
}
