//! Stories: each way in which a write goes wrong, told step by step, with what every caller has to hear. Nothing is drawn
//! in them but the nodes' own pauses, and who goes first of those that are ready at the same moment.
//!
//! A story of a safeguard is told twice: with it, when all holds; and without it, when the property that it keeps is seen
//! to fail.
//!
//! ```
//! use ferry_sim::scenario;
//!
//! let story = scenario::find("crash-before-the-answer").unwrap();
//! let told = story.tell(0);
//! assert!(told.iter().all(|performance| performance.went_as_told()));
//! ```

mod batches;
mod callers;
mod commits;
mod expected;
mod ids;
mod performance;
mod resumes;
mod safeguards;
mod setting;
mod stage;
mod versions;
mod views;

use self::{performance::perform, setting::Setting, stage::Stage};
use crate::{
    checkers::Property,
    kind::{Fenced, Projected},
    policy::Policy,
    purses::Purses,
    store::Layout,
    weak::ByHand,
};

pub use performance::{Performance, Surprise};

/// The ways of going wrong that there are stories of, numbered from one.
pub const ROWS: u8 = 39;

/// A story.
#[derive(Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// What it is called.
    pub name: &'static str,
    /// Of which ways of going wrong it is.
    pub rows: &'static [u8],
    /// What it tells, in a line.
    pub gist: &'static str,
    /// What the types have to say to it, with the documentation test that does not compile.
    pub by_type: Option<&'static str>,
    setting: Setting,
    /// What it is told on.
    plays: &'static [Play],
    without: &'static [Without],
    /// Safeguards of the driver, on what can be told without them: a driver that is written by hand, or a front by hand.
    by_hand: &'static [(Play, Without)],
}

/// A safeguard that is left out, and what that leads to.
#[derive(Debug)]
struct Without {
    safeguard: &'static str,
    policy: Policy,
    /// These properties, and no others.
    fails: &'static [Property],
}

/// A story on a kind of write.
#[derive(Clone, Copy)]
enum Play {
    /// By a driver that is written by hand.
    ByHand(fn(&mut Stage<ByHand<Purses>>)),
    Fenced(fn(&mut Stage<Fenced<Purses>>)),
    /// The view is in the record's own store.
    Together(fn(&mut Stage<Projected<Purses>>)),
    /// The view is in another store.
    Apart(fn(&mut Stage<Projected<Purses>>)),
}

/// All stories, by what goes wrong in them; at last those that are of a safeguard alone.
#[must_use]
pub fn in_order() -> Vec<&'static Scenario> {
    let mut stories: Vec<_> = all().collect();
    stories.sort_by_key(|story| story.rows.first().copied().unwrap_or(u8::MAX));
    stories
}

/// All stories.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    [
        commits::STORIES,
        versions::STORIES,
        ids::STORIES,
        callers::STORIES,
        batches::STORIES,
        views::STORIES,
        resumes::STORIES,
    ]
    .into_iter()
    .flatten()
}

/// The story with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Scenario> {
    all().find(|story| story.name == name)
}

impl Scenario {
    /// What a story is told with unless it says otherwise.
    const BLANK: Self = Self {
        name: "",
        rows: &[],
        gist: "",
        by_type: None,
        setting: Setting::USUAL,
        plays: &[],
        without: &[],
        by_hand: &[],
    };

    /// Tells it on each kind of write that it is about, and then on each without each of the safeguards that it shows. The
    /// seed is that of the nodes' own pauses, and of who goes first where it does not matter.
    #[must_use]
    pub fn tell(&self, seed: u64) -> Vec<Performance> {
        let whole = self.plays.iter().map(|play| {
            let policy = Policy::WHOLE;
            play.told(self, policy, seed, None)
        });
        let without = self.without.iter().flat_map(|without| {
            let plays = self.plays.iter();
            plays.map(|play| play.told(self, without.policy, seed, Some(without)))
        });
        let by_hand = self
            .by_hand
            .iter()
            .map(|(play, without)| play.told(self, without.policy, seed, Some(without)));
        whole.chain(without).chain(by_hand).collect()
    }

    /// Of which rows it is, as in "14, 35"; "-" where it is of a safeguard alone.
    #[must_use]
    pub fn rows_in_words(&self) -> String {
        if self.rows.is_empty() {
            return "-".to_owned();
        }
        let rows: Vec<_> = self.rows.iter().map(u8::to_string).collect();
        rows.join(", ")
    }

    /// The safeguards that it shows, in words, each with the properties that fail without it.
    pub fn safeguards(&self) -> impl Iterator<Item = (&'static str, &'static [Property])> + '_ {
        let by_hand = self.by_hand.iter().map(|(_, without)| without);
        let without = self.without.iter().chain(by_hand);
        without.map(|without| (without.safeguard, without.fails))
    }
}

impl Play {
    fn told(
        self,
        story: &Scenario,
        policy: Policy,
        seed: u64,
        without: Option<&'static Without>,
    ) -> Performance {
        let setting = &story.setting;
        let left = match self {
            Self::ByHand(tell) => perform(setting, Layout::Together, policy, seed, tell),
            Self::Fenced(tell) => perform(setting, Layout::Together, policy, seed, tell),
            Self::Together(tell) => perform(setting, Layout::Together, policy, seed, tell),
            Self::Apart(tell) => perform(setting, Layout::Apart, policy, seed, tell),
        };
        Performance::of(self, without, left)
    }

    fn words(self) -> &'static str {
        match self {
            Self::ByHand(_) => "a fenced write by hand",
            Self::Fenced(_) => "a fenced write",
            Self::Together(_) => "a write that projects, the view in the record's own store",
            Self::Apart(_) => "a write that projects, the view in another store",
        }
    }
}

impl core::fmt::Debug for Play {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.words())
    }
}
