//! What is to be seen by now.

use ferry_core::Instant;

use super::{Caller, Stage};
use crate::{
    calls::Ask,
    history::{Heard, What},
    kind::Kind,
    purses::{Outcome, Purses},
    scenario::{expected::Expected, performance::Surprise},
};

impl<K: Kind<Load = Purses>> Stage<K> {
    pub(in crate::scenario) fn expect(&mut self, is_so: bool, what: impl FnOnce() -> String) {
        if !is_so {
            let (at, words) = (self.now(), what());
            self.surprises.push(Surprise { at, words });
        }
    }

    /// The caller has heard this by now.
    pub(in crate::scenario) fn hears(&mut self, caller: Caller, expected: Expected) {
        let heard = {
            let state = self.world.lock();
            let answer = &state.history.submissions[caller.0.0 as usize].answer;
            answer.as_ref().map(|(_, heard)| heard.clone())
        };
        self.expect(expected.is_met_by(heard.as_ref()), || {
            let heard = heard.map_or("nothing".to_owned(), |heard| format!("\"{heard}\""));
            format!("{} was to hear {expected}, and heard {heard}", caller.0)
        });
    }

    /// The record has these inputs, in this order.
    pub(in crate::scenario) fn holds(&mut self, key: u32, expected: &[u64]) {
        let held = self.world.lock().history.shown(key, usize::MAX);
        self.expect(held == expected, || {
            format!("the record of key {key} was to hold {expected:?}, and holds {held:?}")
        });
    }

    /// The caller has heard by now that its input is applied, wherever that is.
    pub(in crate::scenario) fn hears_applied(&mut self, caller: Caller) {
        let is_applied = {
            let state = self.world.lock();
            let answer = &state.history.submissions[caller.0.0 as usize].answer;
            let outcome = answer.as_ref().and_then(|(_, heard)| match heard {
                Heard::Outcome(told, _) => Some(told.outcome),
                Heard::NotCommitted(_) | Heard::InDoubt(_) | Heard::Rejected => None,
            });
            matches!(outcome, Some(Outcome::Applied(_)))
        };
        self.expect(is_applied, || {
            format!("{} was to hear that its input is applied", caller.0)
        });
    }

    /// So many ids are remembered by the record.
    pub(in crate::scenario) fn remembers(&mut self, key: u32, expected: usize) {
        let (record, _) = self.world.lock().table.read(key, false);
        let remembered = record.map_or(0, |record| record.state.applied.len());
        self.expect(remembered == expected, || {
            format!("the record of key {key} was to remember {expected} ids, not {remembered}")
        });
    }

    /// The view shows these.
    pub(in crate::scenario) fn shows(&mut self, key: u32, expected: &[u64]) {
        let shown = self.shown(key);
        self.expect(shown == expected, || {
            format!("the view of key {key} was to show {expected:?}, and shows {shown:?}")
        });
    }

    fn shown(&self, key: u32) -> Vec<u64> {
        let state = self.world.lock();
        let of_key = state
            .history
            .log
            .iter()
            .filter(|written| written.key == key);
        let mut shown = 0;
        for written in of_key {
            match written.what {
                What::Delete => shown = 0,
                What::Show { to, .. } => shown = shown.max(to),
                What::ShowInstead(to) => shown = to,
                What::Commit(_) | What::Mark(_) => {}
            }
        }
        state.history.shown(key, shown)
    }

    /// The record is pending.
    pub(in crate::scenario) fn owes(&mut self, key: u32, expected: bool) {
        let owes = self
            .world
            .lock()
            .table
            .pending(&self.world.fold)
            .contains(&key);
        self.expect(owes == expected, || {
            let owes = if owes { "is" } else { "is not" };
            format!("the record of key {key} {owes} pending")
        });
    }

    /// When commits of the key were asked for.
    pub(in crate::scenario) fn commits(&self, key: u32) -> Vec<Instant> {
        self.asked(key, |ask| matches!(ask, Ask::Commit(_)))
    }

    /// When projections of the key were asked for.
    pub(in crate::scenario) fn projections(&self, key: u32) -> Vec<Instant> {
        self.asked(key, |ask| matches!(ask, Ask::Project))
    }

    fn asked(&self, key: u32, is_such: fn(&Ask) -> bool) -> Vec<Instant> {
        let calls = &self.world.lock().history.calls;
        let such = calls
            .iter()
            .filter(|call| call.key == key && is_such(&call.ask));
        such.map(|call| call.at).collect()
    }
}
