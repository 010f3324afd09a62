//! Projections: view and marker in one write, or the view in another store and the marker after it.

use ferry_core::{CommitError, Coverage, Fault, ProjectResult, Projection, drive::ProjectedStore};

use super::{Answered, SimStore, delivery::Asked, views::Span};
use crate::{
    calls::Came,
    kind::{Kind, RecordOf},
    points::Point,
    policy::{Order, Telling},
    purses::StoreError,
    sent::Shown,
    workload::{KeyOf, Workload},
};

/// Where views are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In the record's own store: one write for the view and the marker.
    Together,
    /// In another store: an entry goes to its own position, and then the marker is moved.
    Apart,
}

type Projecting<K> = ProjectResult<Shown<K>, StoreError>;

impl<K: Kind> ProjectedStore for SimStore<K>
where
    <K::Load as Workload>::Fold: Projection,
{
    type View = Shown<K>;

    async fn project(&self, key: &KeyOf<K::Load>, record: &RecordOf<K::Load>) -> Projecting<K> {
        let key = self.world.number_of(key);
        let record = RecordOf::<K::Load> {
            state: record.state.clone(),
            version: record.version.clone(),
        };
        let noted = self.world.project_asked(self.life, key);
        let projected = self.projected(key, record).await;
        self.world.hears(noted, Came::of_projection(&projected));
        projected
    }
}

impl<K: Kind> SimStore<K> {
    async fn projected(&self, key: u32, record: RecordOf<K::Load>) -> Projecting<K> {
        if self.world.policy.telling == Telling::AtCommit {
            return self.told_at_once(key, record);
        }
        match (self.world.draws.layout, self.world.policy.order) {
            (Layout::Together, _) => self.together(key, record).await,
            (Layout::Apart, Order::ViewFirst) => {
                if let Some(part) = self.shown(key, &record).await? {
                    return Ok(part);
                }
                self.marked(key, record).await
            }
            (Layout::Apart, Order::MarkerFirst) => {
                self.world.weakened();
                let marked = RecordOf::<K::Load> {
                    state: record.state.clone(),
                    version: record.version.clone(),
                };
                let marked = self.marked(key, marked).await?;
                Ok(self.shown(key, &record).await?.unwrap_or(marked))
            }
        }
    }

    fn ask(&self, key: u32, asked: Asked<K::Load>) -> impl Future<Output = Answered<K::Load>> {
        let call = self.world.next_call(self.life, key);
        let answered = self.send(call, asked);
        self.heard(call, answered)
    }

    async fn together(&self, key: u32, record: RecordOf<K::Load>) -> Projecting<K> {
        whole(self.ask(key, Asked::Project(record)).await)
    }

    /// Puts what the record owes into the view, or a part of it: then it says which inputs that shows.
    async fn shown(
        &self,
        key: u32,
        record: &RecordOf<K::Load>,
    ) -> Result<Option<Coverage<Shown<K>, StoreError>>, CommitError<StoreError>> {
        let (span, is_part, version) = {
            let mut state = self.world.lock();
            let whole = state.table.span(key, record);
            let version = state.number(key, &record.version);
            let len = whole.to.saturating_sub(whole.from);
            let mut chance = state.faults.of_request(self.life.node, key);
            let rate = state.rates.part;
            let part = match &mut state.script {
                Some(script) => script.part(key),
                None if len > 0 && chance.happens(rate) => Some(chance.index(len)),
                None => None,
            };
            match part {
                Some(part) => {
                    let to = whole.from + part;
                    (Span { to, ..whole }, true, version)
                }
                None => (whole, false, version),
            }
        };
        self.ask(key, Asked::Show { span, version }).await?;
        Ok(is_part.then(|| {
            self.world.met(Point::ShownInPart);
            Coverage::Part {
                view: self.seen(key, span.to),
                fault: Fault::transient(StoreError::Busy),
            }
        }))
    }

    /// A view of a key's first so many entries.
    fn seen(&self, key: u32, entries: usize) -> Shown<K> {
        let state = self.world.lock();
        let held = state.table.held(key);
        let sent = &held[..entries.min(held.len())];
        let contents: Vec<_> = sent.iter().map(|sent| &*sent.content).collect();
        Shown {
            numbers: sent.iter().map(|sent| sent.number).collect(),
            view: K::view(&self.world.load, &contents),
        }
    }

    async fn marked(&self, key: u32, record: RecordOf<K::Load>) -> Projecting<K> {
        whole(self.ask(key, Asked::Mark(record)).await)
    }

    /// Says that it landed, and lets it happen.
    fn told_at_once(&self, key: u32, record: RecordOf<K::Load>) -> Projecting<K> {
        self.world.weakened();
        let call = self.world.next_call(self.life, key);
        let _unheard = self.send(call, Asked::Project(record));
        Ok(Coverage::Whole)
    }
}

fn whole<K: Kind>(answered: Answered<K::Load>) -> Projecting<K> {
    answered.map(|_| Coverage::Whole)
}
