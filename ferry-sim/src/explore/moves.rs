//! What can happen next.

use super::{
    machine::Wants,
    scope::Scope,
    state::{Actor, Client, Heard, State},
    store::Write,
    unfolded::Unfolded,
};

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Somebody takes the next step.
    Steps(u8, Fate),
    /// A client sends its input, or sends it again.
    Submits {
        input: u8,
        process: u8,
    },
    Crashes(u8, InHand),
    /// A write that was adrift arrives.
    Arrives(u8),
    /// It never does.
    IsLost(u8),
    /// A client does not care any more.
    GivesUp(u8),
}

/// How a call of the store goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// As it should.
    Served,
    /// Without effect.
    Failed,
    /// It arrives, and nobody hears how it went.
    AnswerLost,
    /// Nobody hears anything, and it may still arrive.
    Late,
}

/// What becomes of the call in the hand of one who crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InHand {
    Nothing,
    /// It has arrived.
    Arrives,
    /// It may still arrive.
    Late,
}

impl State {
    /// What can happen here, in a fixed order: what is plainest first. Nothing, at the end of a schedule.
    pub(super) fn moves(&self, scope: &Scope, unfolded: &Unfolded) -> Vec<Move> {
        let wants = |actor| self.place(actor).map(|place| &unfolded.at(place).wants);
        let actors = 0..self.actors.len() as u8;
        let is_busy = |actor: &u8| {
            wants(*actor).is_some_and(|wants| !matches!(wants, Wants::Nothing | Wants::Over(_)))
        };
        let busy: Vec<u8> = actors.filter(is_busy).collect();

        let mut moves: Vec<_> = (busy.iter())
            .map(|&actor| Move::Steps(actor, Fate::Served))
            .collect();
        self.first_submissions(scope, unfolded, &mut moves);
        let is_at_rest = moves.is_empty();
        self.submissions_again(scope, is_at_rest, &mut moves);
        for actor in busy {
            if let Some(wants) = wants(actor) {
                self.misfortunes(actor, wants, &mut moves);
            }
        }
        for nth in 0..self.adrift.len() as u8 {
            moves.push(Move::Arrives(nth));
            if is_at_rest {
                moves.push(Move::IsLost(nth));
            }
        }
        moves
    }

    fn first_submissions(&self, scope: &Scope, unfolded: &Unfolded, moves: &mut Vec<Move>) {
        for (input, client) in self.clients.iter().enumerate() {
            if *client != Client::New {
                continue;
            }
            let processes = (0..scope.processes).filter(|&process| {
                self.place(process).is_some() && self.is_no_twin(process, unfolded)
            });
            moves.extend(processes.map(|process| Move::Submits {
                input: input as u8,
                process,
            }));
            // Which of several deposits comes first makes no difference.
            if !scope.withdrawal {
                break;
            }
        }
    }

    /// Of processes that nothing has happened to yet, one is as good as another.
    fn is_no_twin(&self, process: u8, unfolded: &Unfolded) -> bool {
        let is_fresh = |process| (self.place(process)).is_some_and(|place| unfolded.is_root(place));
        process == 0 || !is_fresh(process - 1)
    }

    fn submissions_again(&self, scope: &Scope, is_at_rest: bool, moves: &mut Vec<Move>) {
        for (input, client) in self.clients.iter().enumerate() {
            // Who has its answer goes to any; who still waits for one, to another.
            let (waits_at, is_patient) = match *client {
                Client::Wonders { .. } => (None, true),
                Client::Waits { attempt, process }
                    if self.left.impatient > 0 && attempt < scope.resends =>
                {
                    (Some(process), false)
                }
                Client::New | Client::Waits { .. } | Client::Gone => continue,
            };
            let input = input as u8;
            let is_alive = |process: &u8| self.place(*process).is_some();
            let again = (0..scope.processes)
                .filter(is_alive)
                .filter(|process| waits_at != Some(*process));
            moves.extend(again.map(|process| Move::Submits { input, process }));
            if is_at_rest && is_patient {
                moves.push(Move::GivesUp(input));
            }
        }
    }

    fn misfortunes(&self, actor: u8, wants: &Wants, moves: &mut Vec<Move>) {
        let (is_write, is_call) = match wants {
            Wants::Write(Write::Commit { .. } | Write::Projection { .. }) => (true, true),
            Wants::Read(_) => (false, true),
            Wants::Nothing | Wants::Company | Wants::Over(_) => (false, false),
        };
        let left = &self.left;
        let mut may = |happens: bool, it: Move| {
            if happens {
                moves.push(it);
            }
        };
        may(is_call && left.failed > 0, Move::Steps(actor, Fate::Failed));
        may(
            is_write && left.lost > 0,
            Move::Steps(actor, Fate::AnswerLost),
        );
        may(is_write && left.late > 0, Move::Steps(actor, Fate::Late));
        if left.crashes > 0 {
            may(true, Move::Crashes(actor, InHand::Nothing));
            may(is_write, Move::Crashes(actor, InHand::Arrives));
            may(
                is_write && left.late > 0,
                Move::Crashes(actor, InHand::Late),
            );
        }
    }

    /// Lets go of what nothing depends on any more: that makes alike what differs in its past alone.
    pub(super) fn forgets(&mut self, scope: &Scope, unfolded: &Unfolded) {
        for client in &mut self.clients {
            if matches!(*client, Client::Wonders { attempts, .. } if attempts > scope.resends) {
                *client = Client::Gone;
            }
        }
        for sent in &mut self.sent {
            if sent.heard != Heard::Nothing {
                (sent.was_open, sent.was_too_much, sent.since) = (false, false, 0);
            }
        }
        let all_gone = self.clients.iter().all(|client| *client == Client::Gone);
        for actor in &mut self.actors {
            let Actor::Alive { place, .. } = *actor else {
                continue;
            };
            let is_over = match unfolded.at(place).wants {
                Wants::Over(_) => true,
                Wants::Nothing => all_gone,
                Wants::Company | Wants::Read(_) | Wants::Write(_) => false,
            };
            if is_over {
                *actor = Actor::Retired;
            }
        }
    }
}
