//! What the store holds of views, and projections.

use super::{
    row::Row,
    table::{Effect, Table},
};
use crate::{
    kind::{Kind, RecordOf},
    policy::ProjectionFence,
};

/// What a projection put into the view, and where the marker is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Of the record as it was after so many deletions.
    pub(super) deletions: u64,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl<K: Kind> Table<K> {
    /// Whether the record still is as this one; and whether it would not count as such, had the fence not been weakened.
    fn fenced<'t>(
        load: &K::Load,
        row: Option<&'t mut Row<K::Load>>,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Option<(&'t mut Row<K::Load>, bool)> {
        let row = row?;
        let is_version = row.now.version == record.version;
        let is_marker = K::marker(load, &row.now.state) == K::marker(load, &record.state);
        let is_let_in = match fence {
            ProjectionFence::Both => is_version && is_marker,
            ProjectionFence::MarkerAlone => is_marker,
            ProjectionFence::VersionAlone => is_version,
            ProjectionFence::Flag => {
                K::marker(load, &row.now.state).as_ref() != Some(&row.now.version)
            }
            ProjectionFence::Ignored => true,
        };
        is_let_in.then_some((row, !(is_version && is_marker)))
    }

    /// At how many entries the marker stands.
    pub(super) fn marker(&self, key: u32) -> usize {
        let row = self.rows.get(&key);
        row.map_or(0, |row| {
            row.position(K::marker(&self.load, &row.now.state).as_ref())
        })
    }

    /// What a projection of this record owes the view.
    pub(super) fn span(&self, key: u32, record: &RecordOf<K::Load>) -> Span {
        let marker = K::marker(&self.load, &record.state);
        let row = self.rows.get(&key);
        let position = |version| row.map_or(0, |row| row.position(version));
        Span {
            deletions: row.map_or(0, |row| row.deletions),
            from: position(marker.as_ref()),
            to: position(Some(&record.version)),
        }
    }

    /// Adds to the view what the record owes it, and moves the marker, in one write.
    pub(super) fn project(
        &mut self,
        key: u32,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Option<Effect<(Span, usize)>> {
        let span = self.span(key, record);
        let moved = self.mark(key, record, fence)?;
        if let Some(row) = self.rows.get_mut(&key) {
            row.shown = (row.shown + span.to).saturating_sub(span.from);
        }
        Some(Effect {
            done: (span, moved.done),
            is_weakened: moved.is_weakened,
        })
    }

    /// Moves the marker to the version that is stored, which the fence has shown to be the record's, and says where that is.
    pub(super) fn mark(
        &mut self,
        key: u32,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Option<Effect<usize>> {
        let row = self.rows.get_mut(&key);
        let (row, is_weakened) = Self::fenced(&self.load, row, record, fence)?;
        let to = Some(row.now.version.clone());
        let done = row.position(to.as_ref());
        K::mark(&self.load, &mut row.now.state, to);
        Some(Effect { done, is_weakened })
    }

    /// Puts entries into a view that is in another store, each to its own position; and says whether they are of the record
    /// that is there.
    pub(super) fn show(&mut self, key: u32, span: Span) -> bool {
        let row = self.rows.get_mut(&key);
        let Some(row) = row.filter(|row| row.deletions == span.deletions) else {
            return false;
        };
        row.shown = row.shown.max(span.to);
        true
    }

    /// Puts entries into a view in place of all that is there; and says whether they are of the record that is there.
    pub(super) fn show_instead(&mut self, key: u32, span: Span) -> bool {
        let is_there = self.show(key, span);
        if let Some(row) = self.rows.get_mut(&key).filter(|_| is_there) {
            row.shown = span.to;
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use ferry_core::Record;

    use super::*;
    use crate::{
        policy::Policy,
        store::table::tests::{inputs, table},
    };

    #[test]
    fn a_projection_is_held_against_version_and_marker() {
        let (empty, mut table) = table();
        let whole = Policy::WHOLE;
        let _first = table.commit(1, None, &empty, &inputs(2), &whole);
        let (first, _) = table.read(1, false);
        let first = first.unwrap();
        let both = ProjectionFence::Both;
        let shown = table.project(1, &first, both).unwrap();
        assert_eq!(
            shown.done,
            (
                Span {
                    deletions: 0,
                    from: 0,
                    to: 2,
                },
                2
            )
        );
        assert!(
            table.project(1, &first, both).is_none(),
            "it is shown already"
        );
        assert!(
            table
                .project(1, &first, ProjectionFence::VersionAlone)
                .is_some()
        );
        let _second = table.commit(1, Some(&1), &first.state, &inputs(1), &whole);
        let (second, _) = table.read(1, false);
        let second = second.unwrap();
        assert_eq!(
            second.state.marker,
            Some(1),
            "as it is stored, not as it was read"
        );
        assert_eq!(
            table.span(1, &second),
            Span {
                deletions: 0,
                from: 2,
                to: 3,
            }
        );
        let stale = Record {
            state: second.state.clone(),
            version: 1,
        };
        assert!(
            table.project(1, &stale, both).is_none(),
            "it would clear a newer debt"
        );
        assert!(
            table
                .project(1, &stale, ProjectionFence::MarkerAlone)
                .is_some()
        );
    }
}
