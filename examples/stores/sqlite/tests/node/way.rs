//! The way of a node's projections: where a test can hold one, and what it can have befall it there.

use std::{collections::BTreeMap, error::Error, fmt, future::pending, sync::Mutex};

use ferry_core::{Class, CommitError, Fault};
use futures_channel::oneshot;

use super::wait;

/// Where projections pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Before anything is written.
    Before,
    /// Where there are two writes, between them.
    Between,
    /// When all is written, and the answer not yet given.
    After,
}

/// What befalls a projection at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It goes no further, and says that nothing was written.
    Fails(Class),
    /// It goes no further, and says that it cannot tell what was written.
    InDoubt,
    Panics,
}

/// The error of what befell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned;

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as the test ordered")
    }
}

impl Error for Planned {}

#[derive(Default)]
pub struct Way(Mutex<Orders>);

#[derive(Default)]
struct Orders {
    /// For whoever passes a stop first, one after the other.
    next: Vec<(Stop, Order)>,
    /// The keys whose projections always fail.
    cursed: BTreeMap<String, Class>,
}

enum Order {
    Meets(Mishap),
    Waits(Waiting),
}

struct Waiting {
    reached: oneshot::Sender<()>,
    told: oneshot::Receiver<Option<Mishap>>,
}

/// A projection that is held, or will be. If this is dropped, it is held for ever.
#[must_use = "what is held by nobody hangs"]
pub struct Held {
    reached: oneshot::Receiver<()>,
    tell: oneshot::Sender<Option<Mishap>>,
}

impl Held {
    /// Returns when it is there.
    #[track_caller]
    pub fn is_reached(&mut self) {
        wait(&mut self.reached).expect("was not reached");
    }

    pub fn go_on(self) {
        self.tell(None);
    }

    /// It does not get past the stop.
    pub fn meets(self, mishap: Mishap) {
        self.tell(Some(mishap));
    }

    fn tell(self, what: Option<Mishap>) {
        self.tell.send(what).expect("is there");
    }
}

impl Way {
    /// The next to pass this stop is held there.
    pub fn hold(&self, stop: Stop) -> Held {
        let (reached, is_reached) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        self.order(stop, Order::Waits(Waiting { reached, told }));
        Held {
            reached: is_reached,
            tell,
        }
    }

    /// The next to pass this stop meets with this.
    pub fn meets(&self, stop: Stop, mishap: Mishap) {
        self.order(stop, Order::Meets(mishap));
    }

    fn order(&self, stop: Stop, order: Order) {
        self.0.lock().expect("is whole").next.push((stop, order));
    }

    /// No projection of this key gets anywhere until it [heals](Self::heals).
    pub fn curse(&self, key: &str, class: Class) {
        let mut orders = self.0.lock().expect("is whole");
        orders.cursed.insert(key.to_owned(), class);
    }

    /// Nothing is cursed any more.
    pub fn heals(&self) {
        self.0.lock().expect("is whole").cursed.clear();
    }

    /// A projection of this key comes by.
    pub async fn pass(&self, key: &str, stop: Stop) -> Result<(), CommitError<Planned>> {
        let mishap = match self.next(key, stop) {
            None => None,
            Some(Order::Meets(mishap)) => Some(mishap),
            Some(Order::Waits(Waiting { reached, told })) => {
                // Nobody may look where it is.
                let _unseen = reached.send(());
                match told.await {
                    Ok(what) => what,
                    Err(oneshot::Canceled) => pending().await,
                }
            }
        };
        match mishap {
            None => Ok(()),
            Some(Mishap::Fails(class)) => Err(CommitError::NotLanded(Fault {
                error: Planned,
                class,
            })),
            Some(Mishap::InDoubt) => Err(CommitError::InDoubt(Planned)),
            Some(Mishap::Panics) => panic!("{Planned}"),
        }
    }

    /// As [`pass`](Self::pass), for a call that blocks its thread.
    pub fn pass_blocking(&self, key: &str, stop: Stop) -> Result<(), CommitError<Planned>> {
        pollster::block_on(self.pass(key, stop))
    }

    fn next(&self, key: &str, stop: Stop) -> Option<Order> {
        let mut orders = self.0.lock().expect("is whole");
        let cursed = orders.cursed.get(key).filter(|_| stop == Stop::Before);
        if let Some(&class) = cursed {
            return Some(Order::Meets(Mishap::Fails(class)));
        }
        let at = orders.next.iter().position(|(at, _)| *at == stop)?;
        Some(orders.next.remove(at).1)
    }
}
