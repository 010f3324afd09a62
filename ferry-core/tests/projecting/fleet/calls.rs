//! What the store makes of the calls of a fleet; `None` where the call panics.

use core::time::Duration;
use std::io;

use ferry_core::{
    CommitError, Coverage, Fault, ProjectResult, RecordOf,
    projected_write::{Command, Committing},
};

use super::{Fleet, Met, Telling};
use crate::{
    deposits::{Accounts, Deposits},
    schedule::Answer,
    store::{Reach, Write, Writer},
    words::{busy, down, error, too_large},
};

impl Fleet {
    pub(super) fn read(
        &self,
        answer: Answer,
    ) -> Option<Result<Option<RecordOf<Accounts>>, Fault<io::Error>>> {
        Some(match answer {
            Answer::Fails | Answer::GoesAdrift => Err(down()),
            Answer::Throttles => Err(busy(Duration::from_millis(3))),
            Answer::FailsForGood => Err(Fault::permanent(error("malformed"))),
            Answer::Panics => return None,
            Answer::Truth | Answer::LandsUnheard | Answer::ResentBelow | Answer::LandsInPart(_) => {
                Ok(self.store.read())
            }
        })
    }

    pub(super) fn commit(
        &mut self,
        number: usize,
        commit: Committing<Deposits>,
        answer: Answer,
    ) -> Command<Deposits> {
        assert!(!commit.entries().is_empty(), "a commit of nothing");
        let is_too_large = |id| self.schedule.too_large.contains(&id);
        if commit.entries().iter().any(|entry| is_too_large(entry.id)) {
            return commit.resume(self.now, Err(too_large().into()));
        }
        if commit.commit().state.marker != self.store.marker()
            && commit.commit().expected.copied() == self.store.version()
        {
            self.meets(Met::CommitBehindAMovedMarker);
        }
        let write = Write::commit(commit.commit(), Writer(number));
        let landed = match self.send(write, answer) {
            None => return commit.panicked(self.now, "in commit".into()),
            Some(landed) => landed,
        };
        if landed.is_ok() && self.telling == Telling::AtTheCommit {
            for entry in commit.entries() {
                let oldest = self.sent[number].oldest;
                self.judge.is_projected(&self.store, oldest, *entry, 0);
            }
        }
        commit.resume(self.now, landed)
    }

    pub(super) fn project(
        &mut self,
        record: &RecordOf<Accounts>,
        answer: Answer,
    ) -> Option<ProjectResult<Vec<u64>, io::Error>> {
        if let Answer::LandsInPart(part) = answer {
            let reach = part_of(record, part);
            let landed = self.store.arrive(Write::projection(record, reach));
            self.judge.looks_at(&self.store);
            let fault = match part % 8 {
                0 => too_large(),
                _ => down(),
            };
            let view = self.store.view.ids.clone();
            return Some(match landed {
                Some(_) => {
                    self.meets(Met::ProjectionLandedInPart);
                    Ok(Coverage::Part { view, fault })
                }
                None => Err(CommitError::Refused),
            });
        }
        let landed = self.send(Write::projection(record, Reach::Whole), answer)?;
        match landed {
            Ok(_) => self.meets(Met::ProjectionLanded),
            Err(CommitError::Refused) => self.meets(Met::ProjectionRefused),
            Err(CommitError::NotLanded(_) | CommitError::InDoubt(_)) => {}
        }
        Some(landed.map(|_| Coverage::Whole))
    }

    fn send(
        &mut self,
        write: Write,
        answer: Answer,
    ) -> Option<Result<u64, CommitError<io::Error>>> {
        let timed_out = || Err(CommitError::InDoubt(error("timed out")));
        let result = match answer {
            Answer::Truth | Answer::LandsInPart(_) => {
                self.store.arrive(write).ok_or(CommitError::Refused)
            }
            Answer::Fails => Err(down().into()),
            Answer::Throttles => Err(busy(Duration::from_millis(3)).into()),
            Answer::FailsForGood => Err(too_large().into()),
            Answer::LandsUnheard => {
                self.store.arrive_unheard(write);
                timed_out()
            }
            Answer::GoesAdrift => {
                self.store.set_adrift(write);
                timed_out()
            }
            Answer::ResentBelow => {
                self.store.arrive(write.clone());
                self.store.arrive(write).ok_or(CommitError::Refused)
            }
            Answer::Panics => {
                self.store.set_adrift(write);
                return None;
            }
        };
        self.judge.looks_at(&self.store);
        Some(result)
    }
}

/// A part of a record's projection, as it was drawn: up to an earlier version, or some of the entries.
fn part_of(record: &RecordOf<Accounts>, part: u8) -> Reach {
    let owed = record.version - record.state.marker;
    match part % 2 {
        0 if owed > 1 => Reach::Until(record.state.marker + 1 + u64::from(part) % (owed - 1)),
        _ => {
            let ids = record.state.applied.keys().copied();
            Reach::Ahead(ids.filter(|id| (id + u64::from(part)) % 3 > 0).collect())
        }
    }
}
