//! The tasks that carry batches: parked while there is nothing to do, woken with the next batch.

use alloc::{boxed::Box, sync::Arc};
use core::{future::poll_fn, mem, task::Poll, time::Duration};

use crate::{Instant, guard::discard};

use super::{
    carries::{Carrier, Carries, Crew, Task},
    catch::catch,
    clock::keep_time,
    mailbox::{Mailbox, Order, Work},
    runtime::Runtime,
    shared::{Ending, Finished, Next, OnDuty, Shared},
};

/// After so many batches in a row a task lets others run, in case its store never makes it wait.
const IN_A_ROW: u32 = 32;

pub(super) struct CrewOf<R, X> {
    pub(super) runtime: Arc<R>,
    pub(super) carrier: Arc<X>,
}

impl<C: Carries, R: Runtime, X: Carrier<C>> Crew<C> for CrewOf<R, X> {
    fn now(&self) -> Instant {
        self.runtime.now()
    }

    fn weight(&self, input: &C::Input) -> usize {
        self.carrier.weight(input)
    }

    fn hire(&self, on_duty: OnDuty<C>, mailbox: Arc<Mailbox<C>>, first: Work<C>, seed: u64) {
        self.runtime.spawn(carry(
            Arc::clone(&self.carrier),
            first,
            on_duty,
            mailbox,
            seed,
        ));
    }

    fn keep_time(&self, shared: &Arc<Shared<C>>) {
        self.runtime
            .spawn(keep_time(Arc::clone(&self.runtime), OnDuty::new(shared)));
    }

    fn spawn(&self, task: Task) {
        self.runtime.spawn(task);
    }

    fn sleep(&self, duration: Duration) -> Task {
        Box::pin(self.runtime.sleep(duration))
    }
}

/// Carries batches until there is no need any more.
///
/// Wherever the runtime drops it, its callers hear before whoever waits for the end does. One that was never
/// polled drops its arguments in this order: the work comes before the duty.
async fn carry<C: Carries, X: Carrier<C>>(
    carrier: Arc<X>,
    first: Work<C>,
    on_duty: OnDuty<C>,
    mailbox: Arc<Mailbox<C>>,
    seed: u64,
) {
    let mut gear = carrier.gear(seed);
    let mut order = Order::Carry(first);
    let mut in_a_row = 0_u32;
    while let Order::Carry(Work {
        shard,
        hash,
        inputs,
        batch,
        flight,
    }) = order
    {
        let shared = on_duty.shared();
        let batch = batch.begin();
        let stub = batch.stub();
        let mut trip = shared.observer.trip::<C>(flight, &batch, || shared.now());
        let mut batch = Some(batch);
        let carried = catch(|| carrier.carry(&mut gear, &mut batch, &mut trip.passes)).await;
        let ending = match (carried, batch) {
            (Ok(()), Some(batch)) => Ending::Carried(batch),
            (Ok(()), None) => unreachable!("a batch that was carried is there"),
            (Err(_told_to_the_callers), batch) => {
                discard(batch);
                discard(mem::replace(&mut gear, carrier.gear(seed)));
                Ending::Lost(stub)
            }
        };
        let done = Finished {
            shard,
            hash,
            inputs,
            trip,
            ending,
        };
        let next = shared.finished(done, &mailbox, &*carrier, &mut gear);
        in_a_row += 1;
        if in_a_row % IN_A_ROW == 0 {
            let_others_run().await;
        }
        order = match next {
            Next::Carry(work) => Order::Carry(work),
            Next::Wait => mailbox.next().await,
            Next::Retire => Order::Retire,
        };
    }
    on_duty.relieve();
}

async fn let_others_run() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
