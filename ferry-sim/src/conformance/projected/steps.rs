//! The steps that the stories of views are told in.

use ferry_core::{Class, CommitError, Coverage, ProjectResult, Projection};

use super::super::{
    case::{Case, ErrorOf, Kept, TRIES_MAX, Told, tell_error},
    check::Finding,
    handle::ProjectedHandle,
    shows::told,
    subject::{ProjectedSubject, Subject},
};

pub(super) type Projected<S> =
    ProjectResult<<<S as Subject>::Store as ProjectedHandle>::View, ErrorOf<S>>;

impl<S: ProjectedSubject> Case<'_, S> {
    /// Projects once.
    pub(super) async fn project_once(&self, store: &S::Store, record: &Kept<S>) -> Projected<S> {
        store.project(&self.key, record).await
    }

    /// Projects until it is told something that lasts.
    pub(super) async fn project(&self, store: &S::Store, record: &Kept<S>) -> Told {
        let mut unsettled = String::new();
        for _ in 0..TRIES_MAX {
            let (class, text) = match self.project_once(store, record).await {
                Ok(Coverage::Whole) => return Told::Landed,
                Err(CommitError::Refused) => return Told::Refused,
                Ok(Coverage::Part { fault, .. }) => {
                    (fault.class, format!("projected in part: {fault}"))
                }
                Err(error @ CommitError::InDoubt(_)) => (Class::Transient, tell_error(&error)),
                Err(CommitError::NotLanded(fault)) => {
                    (fault.class, format!("nothing written: {fault}"))
                }
            };
            if class == Class::Permanent {
                return Told::Permanent(text);
            }
            unsettled = text;
            self.subject.pause().await;
        }
        Told::Unsettled(unsettled)
    }

    /// Has a projection land whole that is alone.
    pub(super) async fn projects(
        &self,
        store: &S::Store,
        record: &Kept<S>,
        which: &str,
    ) -> Result<(), Finding> {
        let first = self.project_once(store, record).await;
        let told = match first {
            Ok(Coverage::Whole) => return Ok(()),
            Err(CommitError::Refused) => Told::Refused,
            Ok(Coverage::Part { .. })
            | Err(CommitError::NotLanded(_) | CommitError::InDoubt(_)) => {
                self.project(store, record).await
            }
        };
        let is_in_doubt = !matches!(first, Err(CommitError::Refused));
        match told {
            Told::Landed => Ok(()),
            // By a first copy, which was in doubt.
            Told::Refused if is_in_doubt => self.owes_nothing(store, "after a doubt").await,
            Told::Refused | Told::Permanent(_) | Told::Unsettled(_) => {
                let expected = format!("the projection of a record {which}, alone, to land whole");
                Err(Finding::new(expected, told.to_string()))
            }
        }
    }

    /// Has a projection be refused.
    pub(super) async fn refuses(
        &self,
        store: &S::Store,
        record: &Kept<S>,
        what: &str,
    ) -> Result<(), Finding> {
        match self.project(store, record).await {
            Told::Refused => Ok(()),
            told @ (Told::Landed | Told::Permanent(_) | Told::Unsettled(_)) => {
                let expected = format!("{what} to be refused");
                Err(Finding::new(expected, told.to_string()))
            }
        }
    }

    /// Projects the record as it is now, until it owes nothing; others may be at it.
    pub(super) async fn pay(&self, store: &S::Store) -> Result<(), Finding> {
        let mut told = Told::Refused;
        for _ in 0..TRIES_MAX {
            let record = self.record(store, &[]).await?;
            if !self.is_pending(&record) {
                return Ok(());
            }
            told = self.project(store, &record).await;
            if let Told::Permanent(_) = told {
                break;
            }
            self.subject.pause().await;
        }
        let expected = "a record to owe nothing once it was read and projected";
        Err(Finding::new(
            expected,
            format!("it is pending still, and its projection is told: {told}"),
        ))
    }

    pub(super) fn is_pending(&self, record: &Kept<S>) -> bool {
        self.subject.fold().pending(record)
    }

    /// Reads, and has the record owe something to its view.
    pub(super) async fn owes(&self, store: &S::Store, when: &str) -> Result<(), Finding> {
        let record = self.record(store, &[]).await?;
        match self.is_pending(&record) {
            true => Ok(()),
            false => Err(Finding::new(
                format!("the record to be pending {when}"),
                "it is not, so nobody will bring its view up to it",
            )),
        }
    }

    /// Reads, and has the record owe nothing to its view.
    pub(super) async fn owes_nothing(&self, store: &S::Store, when: &str) -> Result<(), Finding> {
        let record = self.record(store, &[]).await?;
        match self.is_pending(&record) {
            false => Ok(()),
            true => {
                let expected = format!("the record to owe nothing {when}");
                Err(Finding::new(expected, "it is pending"))
            }
        }
    }

    /// Has the view show these inputs, each once, in this order.
    pub(super) async fn view_shows(
        &self,
        store: &S::Store,
        applied: &[u32],
    ) -> Result<(), Finding> {
        self.view_shows_within(store, applied.len(), applied).await
    }

    /// Has the view show these inputs, or so many of the first of them at least.
    pub(super) async fn view_shows_within(
        &self,
        store: &S::Store,
        least: usize,
        applied: &[u32],
    ) -> Result<(), Finding> {
        let shown = self.subject.shown(store, &self.key).await;
        let prefixes = (least..=applied.len()).map(|end| self.subject.picture(&applied[..end]));
        let pictures: Vec<S::Picture> = prefixes.collect();
        if pictures.contains(&shown) {
            return Ok(());
        }
        let whole = self.subject.picture(applied);
        let expected = match least == applied.len() {
            true => format!("a view of {}", told(&whole)),
            false => format!(
                "a view of {}, or of the first {least} or more of it",
                told(&whole)
            ),
        };
        Err(Finding::new(expected, told(&shown)))
    }
}
