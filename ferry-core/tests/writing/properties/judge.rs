//! What has to hold of a round trip, by the store's true log.

use std::collections::BTreeSet;

use ferry_core::{Cause, Failure, per_key::Ticket};

use super::{nervous::FORGOTTEN, voyage::Voyage};
use crate::{
    deposits::{BEYOND, Deposit, MISMATCH},
    store::Writer,
};

impl Voyage {
    pub(super) fn no_id_is_applied_twice(&self) {
        let ids = self.store.ids();
        let once: BTreeSet<_> = ids.iter().collect();
        assert_eq!(once.len(), ids.len(), "{ids:?}");
    }

    pub(super) fn everyone_heard_once(&self, sent: &[(Ticket, Deposit)]) {
        assert_eq!(self.heard.len(), sent.len());
        for (ticket, deposit) in sent {
            let heard: Vec<_> = self
                .heard
                .iter()
                .filter(|heard| heard.ticket == *ticket)
                .collect();
            assert_eq!(heard.len(), 1);
            assert_eq!(heard[0].deposit, *deposit);
        }
    }

    pub(super) fn every_answer_is_true(&self) {
        for (nth, heard) in self.heard.iter().enumerate() {
            let logged = &self.store.log[..heard.logged];
            let deposit = heard.deposit;
            match heard.result {
                Ok(MISMATCH) => {
                    let other =
                        |(entry, _): &(Deposit, _)| entry.id == deposit.id && *entry != deposit;
                    assert!(logged.iter().any(other), "{deposit:?} mismatches nothing");
                }
                Ok(BEYOND) => assert!(deposit.cents < 0, "{deposit:?} is not beyond anything"),
                Ok(FORGOTTEN) => {
                    let is_floor = |(entry, _): &(Deposit, _)| Some(entry.id) == self.weather.floor;
                    assert!(logged.iter().any(is_floor), "{deposit:?} is not forgotten");
                }
                Ok(balance) => {
                    let at = logged.iter().position(|(entry, _)| *entry == deposit);
                    let at = at.unwrap_or_else(|| panic!("{deposit:?} is not stored"));
                    let stored: i64 = logged[..=at].iter().map(|(entry, _)| entry.cents).sum();
                    assert_eq!(balance, stored, "{deposit:?} has another outcome stored");
                }
                // What fails since its id panicked has no twin that anybody could know of.
                Err(Failure::NotCommitted(Cause::Panicked(_))) => {}
                Err(Failure::NotCommitted(_)) => {
                    let ours = (deposit, Writer::Ours);
                    assert!(!self.store.log.contains(&ours), "{deposit:?} was committed");
                }
                Err(Failure::InDoubt(_)) => assert!(
                    self.may_be_written(nth),
                    "{deposit:?} cannot have been written"
                ),
            }
        }
    }

    /// A commit of it may have landed by then; or a twin that had not been answered might be committed.
    fn may_be_written(&self, nth: usize) -> bool {
        let heard = &self.heard[nth];
        let id = heard.deposit.id;
        let logged = &self.store.log[..heard.logged];
        let is_open = |(before, ids): &(usize, Vec<u64>)| *before <= nth && ids.contains(&id);
        // An id that panicked may have been anyone's.
        !self.weather.startled.is_empty()
            || self.open.iter().any(is_open)
            || logged.iter().any(|(entry, _)| entry.id == id)
            // It may be forgotten, once its fold applies one that is much larger.
            || self.weather.floor.is_some_and(|floor| id < floor)
            || self.heard[nth + 1..].iter().any(|twin| twin.deposit.id == id)
    }

    /// An input that was told a business no, and that no twin was sent with, was not written here.
    pub(super) fn what_was_declined_is_not_written(&self) {
        for heard in &self.heard {
            let twins = self
                .heard
                .iter()
                .filter(|twin| twin.deposit.id == heard.deposit.id);
            if twins.count() == 1 && matches!(heard.result, Ok(BEYOND | MISMATCH)) {
                assert!(!self.store.log.contains(&(heard.deposit, Writer::Ours)));
            }
        }
    }

    pub(super) fn ours_are_in_order_of_submission(&self, sent: &[(Ticket, Deposit)]) {
        let mut sent = sent.iter().map(|(_, deposit)| *deposit);
        for (entry, writer) in &self.store.log {
            if *writer == Writer::Ours {
                assert!(
                    sent.any(|deposit| deposit == *entry),
                    "{entry:?} was overtaken"
                );
            }
        }
    }
}
