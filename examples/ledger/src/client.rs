//! One simulated client: it posts, runs out of patience, and posts again elsewhere.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout};

use crate::{
    answers::{Heard, Sent},
    fleet::Fleet,
    fold::{Outcome, Posting, Receipt},
    reply::Reply,
    stop::Stop,
    tally::Tally,
    workload::{Afterwards, Task, Workload, account_name, posting},
};

/// How long a client keeps asking for one answer before it gives up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(20);
/// How long it waits for an answer once its first, perhaps short, patience has run out.
const PATIENCE_MAX: Duration = Duration::from_secs(5);
/// After every so many inputs a client looks whether a statement shows what it was told that it shows.
const LOOK_EVERY: u32 = 8;
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// One simulated client.
#[derive(Debug)]
pub struct Client {
    fleet: Arc<Fleet>,
    workload: Workload,
    tally: Tally,
}

/// What the last try of an input was told, and whether earlier ones were left without an answer.
struct Settled {
    outcome: Option<Outcome>,
    /// Whether the statement is known to show it.
    is_projected: bool,
    copies: bool,
}

impl Client {
    /// A client that posts its share of the inputs through a fleet.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>, workload: Workload) -> Self {
        Self {
            fleet,
            workload,
            tally: Tally::default(),
        }
    }

    /// Posts one input after another, until all are settled, one cannot be settled, or the user asks
    /// to finish.
    pub async fn run(
        mut self,
        run: Arc<str>,
        stop: Stop,
        settled: impl Fn(),
    ) -> (Vec<Sent>, Tally) {
        let mut sent = Vec::with_capacity(self.workload.inputs() as usize);
        while !stop.is_asked()
            && let Some(task) = self.workload.next()
        {
            let index = sent.len() as u32;
            let heard = self.post(&run, index, &task).await;
            let (account, amount) = (task.account, task.amount);
            sent.push(Sent {
                account,
                amount,
                heard,
            });
            if heard == Heard::Nothing {
                break;
            }
            settled();
        }
        (sent, self.tally)
    }

    async fn post(&mut self, run: &str, index: u32, task: &Task) -> Heard {
        let account = account_name(task.account);
        let mut posting = posting(run, self.workload.client(), index, task.amount);
        let settled = self
            .settle(&account, &posting, task.node, task.patience)
            .await;
        let heard = settled.heard();
        let Heard::Applied(receipt) = heard else {
            return heard;
        };
        if settled.is_projected && index.is_multiple_of(LOOK_EVERY) {
            self.look(&account, receipt).await;
        }
        let right = match task.afterwards {
            Afterwards::Nothing => return heard,
            Afterwards::Repeat => Outcome::Already(receipt),
            Afterwards::Alter => {
                posting.amount += 1;
                Outcome::Mismatch
            }
        };
        let node = self.workload.other_node(task.node);
        let again = self.settle(&account, &posting, node, PATIENCE_MAX).await;
        let counted = match task.afterwards {
            Afterwards::Alter => &mut self.tally.mismatches,
            Afterwards::Nothing | Afterwards::Repeat => &mut self.tally.repeats,
        };
        counted.count(again.outcome == Some(right));
        heard
    }

    /// Looks at the account's statement: it is to show the posting of this receipt.
    async fn look(&mut self, account: &str, receipt: Receipt) {
        if let Some(statement) = self.fleet.statement(account).await {
            let is_shown = statement.postings >= receipt.number;
            self.tally.looks.count(is_shown);
        }
    }

    /// Sends one input, to one node after another, until there is an answer.
    async fn settle(
        &mut self,
        account: &str,
        posting: &Posting,
        mut node: u32,
        mut patience: Duration,
    ) -> Settled {
        let give_up = Instant::now() + GIVE_UP_AFTER;
        let mut copies = false;
        while Instant::now() < give_up {
            self.tally.requests += 1;
            match self.fleet.submit(node, account, posting) {
                None => self.tally.rejected += 1,
                Some(reply) => match timeout(patience, reply).await {
                    Ok(Some(Reply::Outcome { outcome, is_late })) => {
                        self.tally.late += u64::from(is_late);
                        return Settled {
                            outcome: Some(outcome),
                            is_projected: !is_late,
                            copies,
                        };
                    }
                    Ok(Some(Reply::Failed {
                        is_in_doubt,
                        reason,
                    })) => {
                        copies |= is_in_doubt;
                        self.tally.fail(is_in_doubt, reason);
                    }
                    Ok(None) => {
                        copies = true;
                        self.tally.in_doubt += 1;
                    }
                    Err(_elapsed) => {
                        copies = true;
                        self.tally.timed_out += 1;
                    }
                },
            }
            node = self.workload.other_node(node);
            patience = PATIENCE_MAX;
            sleep(self.workload.pause(PAUSE_MAX)).await;
        }
        Settled {
            outcome: None,
            is_projected: false,
            copies,
        }
    }
}

impl Settled {
    fn heard(&self) -> Heard {
        match self.outcome {
            None => Heard::Nothing,
            Some(Outcome::Applied(receipt) | Outcome::Already(receipt)) => Heard::Applied(receipt),
            Some(Outcome::Refused(_)) if self.copies => Heard::RefusedWithCopies,
            Some(Outcome::Refused(_)) => Heard::Refused,
            Some(Outcome::Mismatch) => Heard::Mismatch,
        }
    }
}
