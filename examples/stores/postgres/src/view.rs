//! The read side: bringing a key's view up to its record, and reading it.

use ferry_core::{CommitError, Coverage, Fault, RecordOf, drive::ProjectedStore};
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::{Row, types::Type};
use uuid::Uuid;

use crate::{
    Entry, Part, PostgresError, PostgresStore, Shown, Version, View, codec, pool::Param,
    sqlstate::Unanswered, store::StoredRecord,
};

impl<B, O, V> PostgresStore<B, O, V> {
    /// What the key's readers are shown, and of which version of the record that is; `None` while nothing
    /// has been projected.
    ///
    /// # Errors
    ///
    /// As a read; [`PostgresError::Undecodable`] where the view was stored by another version of `V`.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn view(&self, key: &str) -> Result<Option<Shown<V>>, Fault<PostgresError>>
    where
        V: DeserializeOwned,
    {
        codec::check_text(key, Part::Key, key).map_err(Fault::permanent)?;
        let sql = &self.statements().read_view;
        let rows = self.pool().read(sql, &[(&key, Type::TEXT)]).await?;
        rows.first().map(|row| codec::shown(key, row)).transpose()
    }

    /// The keys whose views lack something of their records, in their order, at most so many: what a sweep
    /// is to be given.
    ///
    /// Costs as much as there are keys found, however many records there are. If a full `limit` of keys
    /// cannot be projected, they are found first again and again: go on behind them with
    /// [`pending_after`](Self::pending_after).
    ///
    /// # Errors
    ///
    /// As a read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn pending(&self, limit: usize) -> Result<Vec<String>, Fault<PostgresError>> {
        self.pending_from(None, limit).await
    }

    /// As [`pending`](Self::pending), of the keys that come after this one.
    ///
    /// # Errors
    ///
    /// As a read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn pending_after(
        &self,
        key: &str,
        limit: usize,
    ) -> Result<Vec<String>, Fault<PostgresError>> {
        codec::check_text(key, Part::Key, key).map_err(Fault::permanent)?;
        self.pending_from(Some(key), limit).await
    }

    async fn pending_from(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, Fault<PostgresError>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params: [Param<'_>; 2] = [(&after, Type::TEXT), (&limit, Type::INT8)];
        let rows = self
            .pool()
            .read(&self.statements().pending, &params)
            .await?;
        rows.iter()
            .map(|row| codec::column("", Part::Key, row, 0))
            .collect()
    }
}

/// A projection takes in every entry that the view lacks, all at once: it needs memory for these, and for
/// the view twice. Where views come to old tables, a key's first projection takes in all that the key has.
///
/// Where the marker is [`Version::ABSENT`], the view is made anew, from [`Default`] and every entry that is
/// stored.
///
/// A view that cannot be decoded, or that is not the one of which the marker speaks, is a permanent fault,
/// and is left as it is.
///
/// # Cancel safety
///
/// Can be dropped at any time: the view is then written, or the record stays pending.
impl<B, O, V> ProjectedStore for PostgresStore<B, O, V>
where
    B: Serialize + DeserializeOwned + Send + Sync + 'static,
    O: Serialize + DeserializeOwned + Send + Sync + 'static,
    V: View<B, O> + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// A projection lands whole or not at all.
    type View = ();

    async fn project(
        &self,
        key: &String,
        record: &RecordOf<Self>,
    ) -> Result<Coverage<(), PostgresError>, CommitError<PostgresError>> {
        let result = self.bring_up(key, record).await;
        // What found nothing to do has written nothing.
        if record.state.is_pending(record.version) || result.is_err() {
            self.tally().projected(&result);
        }
        result.map(|()| Coverage::Whole)
    }
}

/// What a projection is fenced on, as columns.
struct Fence {
    version: (i64, Uuid),
    marker: (i64, Uuid),
}

impl Fence {
    /// `None` for versions that no record has.
    fn of(version: Version, marker: Version) -> Option<Self> {
        Some(Self {
            version: codec::columns(version)?,
            marker: codec::columns(marker)?,
        })
    }

    fn params<'a>(&'a self, key: &'a String) -> Vec<Param<'a>> {
        vec![
            (key, Type::TEXT),
            (&self.version.0, Type::INT8),
            (&self.version.1, Type::UUID),
            (&self.marker.0, Type::INT8),
            (&self.marker.1, Type::UUID),
        ]
    }
}

impl<B, O, V> PostgresStore<B, O, V>
where
    O: DeserializeOwned,
    V: View<B, O> + Serialize + DeserializeOwned,
{
    /// Reads what the view lacks, takes it in, and writes the view. The fence holds at both ends, and what
    /// it is made of never comes back, so it held in between.
    async fn bring_up(
        &self,
        key: &String,
        record: &StoredRecord<B, O>,
    ) -> Result<(), CommitError<PostgresError>> {
        codec::check_text(key, Part::Key, key).map_err(Fault::permanent)?;
        let marker = record.state.marker;
        let Some(fence) = Fence::of(record.version, marker) else {
            return Err(CommitError::Refused);
        };
        let sql = &self.statements().read_debt;
        let rows = self.pool().read(sql, &fence.params(key)).await?;
        let Some((view, entries)) = rows.split_first() else {
            return Err(CommitError::Refused);
        };
        if !record.state.is_pending(record.version) {
            return Ok(());
        }
        let (included, json) = advance::<B, O, V>(key, record, view, entries)?;
        let mut params = fence.params(key);
        params.extend([(&included as _, Type::INT8), (&json as _, Type::TEXT)]);
        let lent = self.pool().lend().await?;
        let written = lent.ask(&self.statements().project, &params).await;
        let rows = written.map_err(Unanswered::of_write)?;
        if rows.is_empty() {
            return Err(CommitError::Refused);
        }
        Ok(())
    }
}

/// Takes the entries into the view: how many it includes then, and its JSON.
fn advance<B, O, V>(
    key: &str,
    record: &StoredRecord<B, O>,
    stored: &Row,
    entries: &[Row],
) -> Result<(i64, String), Fault<PostgresError>>
where
    O: DeserializeOwned,
    V: View<B, O> + Serialize + DeserializeOwned,
{
    let mut view: V = fitting_view(key, record.state.marker, stored)?;
    let last = entries.last().unwrap_or(stored);
    let included = codec::column(key, Part::Entry, last, 0)?;
    let news: Vec<Entry<O>> = entries
        .iter()
        .map(|row| codec::entry(key, row, 3))
        .collect::<Result<_, _>>()?;
    view.advance(record.state.body.as_ref(), &news);
    let json = codec::format(key, Part::View, &view).map_err(Fault::permanent)?;
    codec::check_size(key, json.len()).map_err(Fault::permanent)?;
    Ok((included, json))
}

/// The view that the marker speaks of.
fn fitting_view<V: Default + DeserializeOwned>(
    key: &str,
    marker: Version,
    stored: &Row,
) -> Result<V, Fault<PostgresError>> {
    if marker == Version::ABSENT {
        return Ok(V::default());
    }
    let json: Option<String> = codec::column(key, Part::View, stored, 5)?;
    let shows = json
        .is_some()
        .then(|| codec::version(key, Part::View, stored, 1));
    let shows = shows.transpose()?;
    match json {
        Some(json) if shows == Some(marker) => codec::parse(key, Part::View, &json),
        _ => Err(Fault::permanent(PostgresError::OtherView {
            key: key.to_owned(),
            marker,
            shows,
        })),
    }
}
