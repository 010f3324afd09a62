//! Where a story takes place, and what has to hold when it is over.

use ferry_core::{
    drive::{Builder, Carries, Ferry},
    fold_write::FoldWrite,
    projected_write::ProjectedWrite,
};
use shuttle::future::block_on;

use super::{
    runtime::Tasks,
    store::{Append, Appends, Table, Token},
};

pub(crate) type Lists = Ferry<FoldWrite<Appends>>;
pub(crate) type ShownLists = Ferry<ProjectedWrite<Appends>>;

pub(crate) struct World {
    pub(crate) tasks: Tasks,
    pub(crate) table: Table,
    pub(crate) bounds: Bounds,
    token: Token,
}

/// As the builder has them.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) shards: usize,
    pub(crate) max_in_flight: usize,
    pub(crate) max_queueing: usize,
    pub(crate) max_queueing_per_key: usize,
}

/// One shard, and room for whatever a story brings.
pub(crate) const ROOMY: Bounds = Bounds {
    shards: 1,
    max_in_flight: 8,
    max_queueing: 64,
    max_queueing_per_key: 64,
};

impl World {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let token = Token::default();
        Self {
            tasks: Tasks::default(),
            table: Table::new(&token),
            bounds,
            token,
        }
    }

    pub(crate) fn builder(&self) -> Builder<Tasks> {
        let Bounds {
            shards,
            max_in_flight,
            max_queueing,
            max_queueing_per_key,
        } = self.bounds;
        Builder::on(self.tasks.clone())
            .seed(1)
            .shards(shards)
            .max_in_flight(max_in_flight)
            .max_queueing(max_queueing)
            .max_queueing_per_key(max_queueing_per_key)
    }

    pub(crate) fn lists(&self) -> Lists {
        self.lists_by(self.builder())
    }

    pub(crate) fn lists_by(&self, builder: Builder<Tasks>) -> Lists {
        builder
            .fold_write(Appends, self.table.clone())
            .expect("sound bounds")
    }

    pub(crate) fn shown_lists(&self) -> ShownLists {
        let shown = self.builder().projected_write(Appends, self.table.clone());
        shown.expect("sound bounds")
    }

    pub(crate) fn append(&self, id: u64) -> Append {
        let token = self.token.clone();
        Append { id, token }
    }

    /// For threads of the story.
    pub(crate) fn pen(&self) -> impl Fn(u64) -> Append + Send + Clone + use<> {
        let token = self.token.clone();
        move |id| Append {
            id,
            token: token.clone(),
        }
    }

    /// Closes the handle, sees that nothing is counted as under way, and ends.
    pub(crate) fn close<C: Carries>(self, ferry: Ferry<C>) {
        block_on(ferry.close());
        is_quiet(&ferry);
        drop(ferry);
        self.end();
    }

    /// With the last handle gone, every task comes to its end, and nothing is left.
    pub(crate) fn end(self) {
        self.tasks.join();
        self.table
            .audit(self.bounds.max_in_flight, self.bounds.max_queueing);
        let Self {
            tasks,
            table,
            token,
            ..
        } = self;
        drop((tasks, table));
        assert_eq!(token.others(), 0, "things are left of it");
    }
}

/// Nothing waits, and nothing is under way.
pub(crate) fn is_quiet<C: Carries>(ferry: &Ferry<C>) {
    let stats = ferry.stats();
    let gauges = (
        stats.waiting,
        stats.queueing,
        stats.batches_in_flight,
        stats.keys,
    );
    assert_eq!(gauges, (0, 0, 0, 0), "{stats:?}");
}
