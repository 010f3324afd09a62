//! The pauses between the tries of a sweep.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_core::{Retry, drive::Runtime};
use futures_lite::{
    future::{poll_once, yield_now},
    stream,
};
use tokio::sync::mpsc;

use super::sweeping::{HOUR, TRANSIENT, counts, hourly, owing};
use super::{host::*, projecting::open_curator, walls::Pictures, writes::at_once};

pub fn pauses_grow_and_no_other_key_waits_for_them<H: Host>(host: H) {
    const BASE: Duration = Duration::from_millis(100);
    let gallery = owing(0..100);
    gallery.is_cursed(0, TRANSIENT);
    let builder = host.builder().retry(at_once(4)).seed(7);
    let curator = builder
        .projected_write(Pictures::new(), gallery.clone())
        .unwrap();
    let retry = Retry {
        base: BASE,
        factor: 3,
        cap: HOUR,
        attempts: 7,
        ..Retry::default()
    };
    host.run(async {
        let start = host.now();
        let tries = Arc::new(Mutex::new(Vec::new()));
        let (tell, runtime) = (tries.clone(), host.runtime());
        let sweep = curator.sweep(0..100).concurrency(1).retry(retry);
        let report = sweep
            .on_progress(move |progress| {
                if *progress.key == 0 {
                    tell.lock().unwrap().push(runtime.now());
                } else {
                    assert_eq!(runtime.now(), start);
                }
            })
            .await;
        assert_eq!(counts(&report), [100, 99, 0, 1]);
        let tries = tries.lock().unwrap().clone();
        assert_eq!((tries.len(), tries[0]), (7, start));
        assert_eq!(tries[6], host.now());
        let pauses: Vec<_> = tries.windows(2).map(|two| two[1] - two[0]).collect();
        for (n, &pause) in (0..).zip(&pauses) {
            // A sleep may be rounded up to the clock's next millisecond.
            assert!(
                pause <= BASE * 3_u32.pow(n) + Duration::from_millis(1),
                "{pauses:?}"
            );
        }
        // Drawn evenly from what may be as much as 24 s.
        assert!(pauses[5] > BASE * 9, "{pauses:?}");
        assert!(
            pauses.iter().any(|pause| pause.as_millis() % 100 != 0),
            "{pauses:?}"
        );
    });
}

pub fn a_sweep_does_not_gather_keys_without_end<H: Host>(host: H) {
    let gallery = owing(0..12_000);
    (0..12_000).for_each(|room| gallery.is_cursed(room, TRANSIENT));
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let tried = Arc::new(AtomicUsize::new(0));
        let count = tried.clone();
        let sweep = curator.sweep(0..12_000).retry(hourly(2));
        let sweep = sweep.on_progress(move |_| {
            count.fetch_add(1, SeqCst);
        });
        let mut sweep = Box::pin(sweep.into_future());
        while tried.load(SeqCst) < 10_000 {
            assert!(poll_once(&mut sweep).await.is_none());
            yield_now().await;
        }
        for _ in 0..100 {
            assert!(poll_once(&mut sweep).await.is_none());
            yield_now().await;
        }
        assert!(tried.load(SeqCst) <= 10_008);
    });
}

pub fn a_key_that_is_due_goes_before_new_ones<H: Host>(host: H) {
    let gallery = owing(0..3);
    let builder = host.builder().seed(7);
    let curator = builder
        .projected_write(Pictures::new(), gallery.clone())
        .unwrap();
    host.run(async {
        let pause = Duration::from_millis(40);
        let retry = Retry {
            base: pause,
            cap: pause,
            ..at_once(2)
        };
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let keys = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        let order = Arc::new(Mutex::new(Vec::new()));
        let tell = order.clone();
        let sweep = curator.sweep_stream(keys).concurrency(1).retry(retry);
        let sweep = sweep.on_progress(move |progress| tell.lock().unwrap().push(*progress.key));
        let sweep = in_a_task(&host, async move { sweep.await });
        gallery.projections_meet([TRANSIENT]);
        sender.send(0).unwrap();
        host.runtime().sleep(Duration::from_millis(1)).await;
        assert_eq!(*order.lock().unwrap(), [0]);
        // All of the room is taken until the first is due; then it is its turn.
        gallery.way.before_project.close();
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        host.runtime().sleep(pause * 2).await;
        gallery.way.before_project.open();
        assert_eq!(counts(&sweep.await), [3, 3, 0, 0]);
        assert_eq!(*order.lock().unwrap(), [0, 1, 0, 2]);
    });
}
