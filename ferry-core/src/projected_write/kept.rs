//! A record that is held on to until its projection has been answered.

use crate::{Projection, RecordOf, fold_write::SchemaOf, guard::discard_record};

/// Wherever it is let go of, a `Drop` of the user's that panics harms nobody.
pub(super) struct Kept<P: Projection> {
    /// `None` only while it is dropped.
    record: Option<RecordOf<SchemaOf<P>>>,
}

impl<P: Projection> Kept<P> {
    pub(super) fn new(record: RecordOf<SchemaOf<P>>) -> Self {
        Self {
            record: Some(record),
        }
    }

    pub(super) fn record(&self) -> &RecordOf<SchemaOf<P>> {
        match &self.record {
            Some(record) => record,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<P: Projection> Drop for Kept<P> {
    fn drop(&mut self) {
        discard_record(self.record.take());
    }
}
