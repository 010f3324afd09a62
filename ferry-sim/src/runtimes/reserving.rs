//! Room that is set aside before there is an input.

use std::{pin::pin, time::Duration};

use ferry_core::{Cause, Failure, per_key::Reason};
use futures_lite::future::poll_once;

use super::{host::*, room::tight};

pub fn a_place_is_one_of_those_that_may_queue<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 2, 2);
    host.run(async {
        let place = ferry.try_reserve().unwrap();
        let other = ferry.submit(1, 1).unwrap();
        assert_eq!(ferry.submit(1, 2).unwrap_err().reason, Reason::QueueFull);
        assert_eq!(ferry.try_reserve().unwrap_err(), Reason::QueueFull);
        assert_eq!(ferry.stats().queueing, 2);
        let submission = place.submit(1, 3).unwrap();
        assert_eq!(ferry.stats().queueing, 2);
        courier.gate.open();
        assert_eq!((other.await, submission.await), (Ok(1), Ok(3)));
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_place_that_is_dropped_goes_to_who_waits_longest<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 1, 1);
    courier.gate.open();
    host.run(async {
        let place = ferry.reserve().await.unwrap();
        let mut first = pin!(ferry.submit_when_free(1, 1));
        let mut second = pin!(ferry.reserve());
        assert!(poll_once(&mut first).await.is_none());
        assert!(poll_once(&mut second).await.is_none());
        drop(place);
        assert!(poll_once(&mut second).await.is_none());
        assert_eq!(first.await.unwrap().await, Ok(1));
        let place = second.await.unwrap();
        assert_eq!(place.submit(2, 2).unwrap().await, Ok(2));
        assert_nothing_is_left(&ferry);
    });
}

pub fn who_waits_for_a_place_may_leave_the_line<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 1, 1);
    courier.gate.open();
    host.run(async {
        let place = ferry.reserve().await.unwrap();
        let mut first = Box::pin(ferry.reserve());
        let mut second = pin!(ferry.reserve());
        assert!(poll_once(&mut first).await.is_none());
        assert!(poll_once(&mut second).await.is_none());
        // Its turn has come, and nobody looks.
        drop(place);
        drop(first);
        drop(second.await.unwrap());
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_place_opens_no_full_key<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 3, 1);
    host.run(async {
        let first = ferry.submit(1, 1).unwrap();
        let place = ferry.reserve().await.unwrap();
        let rejected = place.submit(1, 2).unwrap_err();
        assert_eq!(rejected.reason, Reason::KeyFull);
        assert_eq!((rejected.key, rejected.input), (1, 2));
        assert_eq!(ferry.stats().queueing, 1);
        assert_eq!(ferry.stats().counters.rejected, 1);
        courier.gate.open();
        assert_eq!(first.await, Ok(1));
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_place_is_worth_nothing_once_the_handle_is_closed<H: Host>(host: H) {
    let (ferry, _courier) = tight(&host, 1, 1);
    host.run(async {
        let place = ferry.reserve().await.unwrap();
        let mut waiting = pin!(ferry.reserve());
        assert!(poll_once(&mut waiting).await.is_none());
        // Which does not wait for what has not come.
        ferry.close().await;
        assert_eq!(waiting.await.unwrap_err(), Reason::Closed);
        assert_eq!(ferry.reserve().await.unwrap_err(), Reason::Closed);
        assert_eq!(ferry.try_reserve().unwrap_err(), Reason::Closed);
        assert_eq!(place.submit(1, 1).unwrap_err().reason, Reason::Closed);
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_place_outlives_the_last_handle<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 1, 1);
    courier.gate.open();
    host.run(async {
        let place = ferry.reserve().await.unwrap();
        drop(ferry);
        assert_eq!(place.submit(1, 1).unwrap().await, Ok(1));
    });
}

pub fn an_input_on_a_place_has_a_deadline_of_its_own<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 2, 2);
    host.run(async {
        let first = ferry.submit(1, 1).unwrap();
        courier.gate.reached(1).await;
        let place = ferry.reserve().await.unwrap();
        let late = place.submit_within(1, 2, Duration::ZERO).unwrap();
        assert_eq!(late.await, Err(Failure::NotCommitted(Cause::Expired)));
        courier.gate.open();
        assert_eq!(first.await, Ok(1));
        assert_nothing_is_left(&ferry);
    });
}
