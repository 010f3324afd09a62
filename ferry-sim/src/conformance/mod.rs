//! stub
mod case;
mod check;
mod handle;
mod polls;
mod projected;
pub mod reference;
mod report;
mod shows;
mod store;
mod subject;

pub use check::{Check, CheckResult, Checked, Finding, Lack};
pub use handle::{Blocking, CommitResult, Handle, ProjectedHandle, ReadResult};
pub use report::Report;
pub use subject::{Deletion, InputOf, KeyOf, ProjectedSubject, SchemaOf, StateOf, Subject};

/// The checks of the contract of a [`Store`](ferry_core::drive::Store), to be run one by one.
pub fn store_checks<S: Subject + ?Sized>() -> Vec<Check<S>> {
    store::checks()
}

/// The checks that the contract of a [`ProjectedStore`](ferry_core::drive::ProjectedStore) adds, to be run one by one.
pub fn projection_checks<S: ProjectedSubject + ?Sized>() -> Vec<Check<S>> {
    projected::checks()
}

/// Runs the [`store_checks`] one after the other.
pub async fn check_store<S: Subject + ?Sized>(subject: &S) -> Report {
    let mut report = Report::default();
    report.add(&store_checks(), subject).await;
    report
}

/// Runs the [`store_checks`] and then the [`projection_checks`], one after the other.
pub async fn check_projected_store<S: ProjectedSubject + ?Sized>(subject: &S) -> Report {
    let mut report = Report::default();
    report.add(&store_checks(), subject).await;
    report.add(&projection_checks(), subject).await;
    report
}
