//! The read side: bringing a key's view up to its record, and reading it.

use ferry_core::{CommitError, Coverage, Fault, RecordOf, drive::ProjectedStore};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Entry, Part, Shown, SqliteError, SqliteStore, View, codec,
    queue::{Debt, Owing, Page, Projection, Read, Write},
};

impl<B, O, V> SqliteStore<B, O, V> {
    /// What the key's readers are shown, and of which version of the record that is; `None` while nothing
    /// has been projected.
    ///
    /// # Errors
    ///
    /// As a read; [`SqliteError::Undecodable`] where the view was stored by another version of `V`.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn view(&self, key: &str) -> Result<Option<Shown<V>>, Fault<SqliteError>>
    where
        V: DeserializeOwned,
    {
        let row = self.ask(key.to_owned(), Read::View).await?;
        row.map(|row| codec::shown(key, row)).transpose()
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
    pub async fn pending(&self, limit: usize) -> Result<Vec<String>, Fault<SqliteError>> {
        let from = String::new();
        self.ask(Page { from, limit }, Read::Pending).await
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
    ) -> Result<Vec<String>, Fault<SqliteError>> {
        // The next key that there can be.
        let from = format!("{key}\0");
        self.ask(Page { from, limit }, Read::Pending).await
    }
}

/// A projection takes in every entry that the view lacks, all at once: it needs memory for these, and for
/// the view twice. Where views come to an old file, a key's first projection takes in all that the key has.
///
/// Where the marker is [`Version::ABSENT`](crate::Version::ABSENT), the view is made anew, from
/// [`Default`] and every entry that is stored.
///
/// A view that cannot be decoded, or that is not the one of which the marker speaks, is a permanent fault,
/// and is left as it is.
///
/// # Cancel safety
///
/// Can be dropped at any time: the view is then written, or the record stays pending.
impl<B, O, V> ProjectedStore for SqliteStore<B, O, V>
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
    ) -> Result<Coverage<(), SqliteError>, CommitError<SqliteError>> {
        let owing = Owing {
            key: key.clone(),
            version: record.version,
            marker: record.state.marker,
        };
        // This read refuses early. Whether the write is still right when its turn comes, its own fence
        // says.
        let Some(debt) = self.ask(owing.clone(), Read::Debt).await? else {
            self.tally().projection_refused();
            return Err(CommitError::Refused);
        };
        if !record.state.is_pending(record.version) {
            return Ok(Coverage::Whole);
        }
        let projection = advance::<B, O, V>(owing, debt, record.state.body.as_ref())?;
        self.write(Write::Projection(projection)).await?;
        Ok(Coverage::Whole)
    }
}

/// Takes the entries into the view. Code of the user's, so it runs in the caller's task.
fn advance<B, O, V>(
    owing: Owing,
    debt: Debt,
    body: Option<&B>,
) -> Result<Projection, Fault<SqliteError>>
where
    O: DeserializeOwned,
    V: View<B, O> + Serialize + DeserializeOwned,
{
    let key = &owing.key;
    let (mut view, included) = match debt.view {
        Some(row) => codec::shown(key, row).map(|shown| (shown.view, shown.entries))?,
        None => (V::default(), 0),
    };
    let entries = debt.entries.last().map_or(included, |entry| entry.seq);
    let news = debt.entries.into_iter().map(|row| codec::entry(key, row));
    let news: Vec<Entry<O>> = news.collect::<Result<_, _>>()?;
    view.advance(body, &news);
    let body = codec::format(key, Part::View, &view).map_err(Fault::permanent)?;
    Ok(Projection {
        owing,
        entries,
        body,
    })
}
