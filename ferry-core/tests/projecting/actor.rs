//! Whoever reads, projects and waits beside others, told step by step.

use core::time::Duration;
use std::{
    cell::{Cell, Ref, RefCell, RefMut},
    io,
    rc::Rc,
};

use ferry_core::{CommitError, Coverage, Fault, Instant, ProjectResult, RecordOf};

use crate::{
    deposits::Accounts,
    store::{Reach, Store, Write},
    words::{deposit, error},
};

/// The store and the time, which all actors of a story share.
#[derive(Clone, Default)]
pub(crate) struct World {
    store: Rc<RefCell<Store>>,
    now: Rc<Cell<Instant>>,
}

impl World {
    pub(crate) fn store(&self) -> Ref<'_, Store> {
        self.store.borrow()
    }

    pub(crate) fn store_mut(&self) -> RefMut<'_, Store> {
        self.store.borrow_mut()
    }

    pub(crate) fn now(&self) -> Instant {
        self.now.get()
    }

    pub(crate) fn passes(&self, time: Duration) {
        self.now.set(self.now() + time);
    }

    /// Another process commits, and dies before it projects.
    pub(crate) fn a_rival_commits(&self, id: u64, cents: i64) -> &Self {
        let before = self.store().version();
        self.store_mut().rival_commits(deposit(id, cents));
        assert_ne!(self.store().version(), before, "the fold declined it");
        self
    }

    /// Another process projects what is pending.
    pub(crate) fn a_rival_projects(&self) -> &Self {
        assert!(self.store().is_pending(), "nothing is pending");
        self.store_mut().rival_projects();
        self
    }

    /// The oldest write adrift arrives, and takes effect.
    pub(crate) fn the_adrift_lands(&self) -> &Self {
        assert!(self.store_mut().drifts_in(0), "the adrift came too late");
        self
    }

    /// The oldest write adrift arrives, and its fence does not hold any more.
    pub(crate) fn the_adrift_comes_too_late(&self) -> &Self {
        assert!(!self.store_mut().drifts_in(0), "the adrift took effect");
        self
    }

    /// The view includes these, in this order, and nothing is pending.
    #[track_caller]
    pub(crate) fn view_is_whole(&self, ids: &[u64]) -> &Self {
        assert_eq!(self.store().view.ids, ids);
        assert!(!self.store().is_pending(), "something is pending");
        assert_eq!(self.store().view.ids, self.store().ids());
        self
    }

    /// The view includes these, in this order, and something is pending.
    #[track_caller]
    pub(crate) fn view_is_late(&self, ids: &[u64]) -> &Self {
        assert_eq!(self.store().view.ids, ids);
        assert!(self.store().is_pending(), "nothing is pending");
        self
    }
}

/// What a round trip and a resume have in common: these can be asked of it, and the rest told with them.
pub(crate) trait Actor: Sized {
    fn world(&self) -> &World;

    fn answers_read(&mut self, read: Result<Option<RecordOf<Accounts>>, Fault<io::Error>>);

    fn read_panics(&mut self) -> &mut Self;

    /// The record whose projection is wanted.
    fn wanted(&self) -> &RecordOf<Accounts>;

    fn answers_projection(&mut self, result: ProjectResult<Vec<u64>, io::Error>);

    fn panics_in_projection(&mut self);

    /// How long it wants to sleep.
    fn pause(&self) -> Duration;

    fn wakes(&mut self);

    // ---- reads ----------------------------------------------------------------------------------

    /// It reads, and is shown what the store holds.
    fn reads(&mut self) -> &mut Self {
        let record = self.world().store().read();
        self.answers_read(Ok(record));
        self
    }

    fn read_fails(&mut self, fault: Fault<io::Error>) -> &mut Self {
        self.answers_read(Err(fault));
        self
    }

    // ---- projections ----------------------------------------------------------------------------

    /// What it wants to project: a record of this version, with this marker.
    #[track_caller]
    fn wants_to_project(&mut self, version: u64, marker: u64) -> &mut Self {
        let record = self.wanted();
        assert_eq!((record.version, record.state.marker), (version, marker));
        self
    }

    /// The projection arrives, lands, and its answer is heard.
    #[track_caller]
    fn projection_lands(&mut self) -> &mut Self {
        let landed = self.projection_arrives(Reach::Whole);
        assert!(landed, "the fence does not hold");
        self.answers_projection(Ok(Coverage::Whole));
        self
    }

    /// The projection arrives, and its fence does not hold.
    #[track_caller]
    fn projection_is_refused(&mut self) -> &mut Self {
        let landed = self.projection_arrives(Reach::Whole);
        assert!(!landed, "the fence holds");
        self.answers_projection(Err(CommitError::Refused));
        self
    }

    /// The projection lands; a layer below loses the answer, sends it again, and hands on the refusal.
    #[track_caller]
    fn projection_is_refused_by_its_own_copy(&mut self) -> &mut Self {
        let landed = self.projection_arrives(Reach::Whole);
        assert!(landed, "the fence does not hold");
        self.projection_is_refused()
    }

    /// The projection lands for these alone, for this reason; the marker stays.
    #[track_caller]
    fn projection_lands_for(&mut self, ids: &[u64], fault: Fault<io::Error>) -> &mut Self {
        let landed = self.projection_arrives(Reach::Ahead(ids.to_vec()));
        assert!(landed, "the fence does not hold");
        self.is_answered_in_part(fault)
    }

    /// The projection brings the view and the marker to an earlier version.
    #[track_caller]
    fn projection_lands_until(&mut self, version: u64, fault: Fault<io::Error>) -> &mut Self {
        let landed = self.projection_arrives(Reach::Until(version));
        assert!(landed, "the fence does not hold");
        self.is_answered_in_part(fault)
    }

    fn is_answered_in_part(&mut self, fault: Fault<io::Error>) -> &mut Self {
        let view = self.world().store().view.ids.clone();
        self.answers_projection(Ok(Coverage::Part { view, fault }));
        self
    }

    /// The projection certainly does not land.
    fn projection_fails(&mut self, fault: Fault<io::Error>) -> &mut Self {
        self.answers_projection(Err(CommitError::NotLanded(fault)));
        self
    }

    /// The projection lands, and its answer is lost.
    #[track_caller]
    fn projection_lands_unheard(&mut self) -> &mut Self {
        let landed = self.projection_arrives(Reach::Whole);
        assert!(landed, "the fence does not hold");
        self.answers_projection(Err(CommitError::InDoubt(error("timed out"))));
        self
    }

    /// No answer comes, and the projection is still under way.
    fn projection_goes_adrift(&mut self) -> &mut Self {
        self.projection_is_still_under_way();
        self.answers_projection(Err(CommitError::InDoubt(error("timed out"))));
        self
    }

    /// The store's call panics, with the projection still under way.
    fn projection_panics(&mut self) -> &mut Self {
        self.projection_is_still_under_way();
        self.panics_in_projection();
        self
    }

    fn projection_is_still_under_way(&self) {
        let write = Write::projection(self.wanted(), Reach::Whole);
        self.world().store_mut().set_adrift(write);
    }

    fn projection_arrives(&self, reach: Reach) -> bool {
        let write = Write::projection(self.wanted(), reach);
        self.world().store_mut().arrive(write).is_some()
    }

    // ---- time -----------------------------------------------------------------------------------

    /// It sleeps for as long as it wants to.
    fn sleeps(&mut self) -> &mut Self {
        self.sleeps_for(self.pause())
    }

    /// It sleeps, and is woken after so long, whatever it wanted.
    fn sleeps_for(&mut self, time: Duration) -> &mut Self {
        self.pause();
        self.takes(time);
        self.wakes();
        self
    }

    /// Time passes while a call of the store is under way.
    fn takes(&mut self, time: Duration) -> &mut Self {
        self.world().passes(time);
        self
    }
}
