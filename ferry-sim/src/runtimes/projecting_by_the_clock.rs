//! Callers who wait for the view no longer than their deadline.

use std::time::Duration;

use ferry_core::{Cause, Class};

use super::projecting::{committed, open_curator, projected};
use super::{bank::deposit, gallery::Gallery, host::*, mishap::Mishap};

const PAUSE: Duration = Duration::from_millis(80);

pub fn who_waits_for_the_view_until_its_deadline_is_committed<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_read.close();
        let ahead = curator.submit(7, deposit(1000, 0)).unwrap();
        gallery.way.before_read.reached(1).await;
        let patient = curator.submit(7, deposit(1, 10)).unwrap();
        let hasty = curator.submit_within(7, deposit(2, 10), PAUSE / 4).unwrap();
        gallery.projections_meet([
            Mishap::Nothing,
            Mishap::Fails(Class::Throttled(Some(PAUSE))),
        ]);
        let start = host.now();
        gallery.way.before_read.open();
        projected(ahead.await.unwrap());
        let (balance, cause) = committed(hasty.await.unwrap());
        assert_eq!((balance, cause), (20, Cause::Expired));
        assert_eq!(host.now(), start + PAUSE / 4);
        assert_eq!(projected(patient.await.unwrap()), 10);
        assert_eq!(host.now(), start + PAUSE);
        gallery.walls.assert_all_is_shown();
        let writes = curator.stats().counters.writes;
        assert_eq!((writes.late, writes.expired), (1, 0));
    });
}

pub fn a_debt_that_nobody_waits_for_any_more_is_left_to_the_next<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.projections_meet([Mishap::Fails(Class::Throttled(Some(PAUSE)))]);
        let start = host.now();
        let hasty = curator.submit_within(7, deposit(1, 10), PAUSE / 4).unwrap();
        assert_eq!(committed(hasty.await.unwrap()), (10, Cause::Expired));
        // The key is free at once, and goes on.
        assert_eq!(
            projected(curator.submit(7, deposit(2, 10)).unwrap().await.unwrap()),
            20
        );
        assert_eq!(host.now(), start + PAUSE / 4);
        assert_eq!(gallery.walls.shown(7), [1, 2]);
    });
}
