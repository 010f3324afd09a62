//! Several handles on one store, as several processes would be.

use super::{
    bank::{Bank, Deposits, deposit},
    host::*,
    writes::at_once,
};

pub fn an_input_sent_to_two_nodes_is_applied_once_and_answered_the_same<H: Host>(host: H) {
    let here = Bank::new();
    let there = Bank::on(here.books.clone());
    let open = |bank: &Bank| {
        let builder = host.builder().retry(at_once(10));
        builder.fold_write(Deposits::new(), bank.clone()).unwrap()
    };
    let (one, other) = (open(&here), open(&there));
    host.run(async {
        // Both have read before either writes.
        here.way.before_commit.close();
        there.way.before_commit.close();
        let at_one = one.submit(7, deposit(1, 10)).unwrap();
        let at_other =
            [deposit(2, 5), deposit(1, 10)].map(|deposit| other.submit(7, deposit).unwrap());
        here.way.before_commit.reached(1).await;
        there.way.before_commit.reached(1).await;
        here.way.before_commit.open();
        assert_eq!(at_one.await.unwrap(), 10);
        there.way.before_commit.open();
        let [new, twin] = at_other;
        assert_eq!((new.await.unwrap(), twin.await.unwrap()), (15, 10));
        assert_eq!(here.books.ids(), [1, 2]);
        assert!(other.stats().counters.writes.refused > 0);
    });
}

pub fn nodes_that_share_a_key_lose_nothing_and_apply_nothing_twice<H: Host>(host: H) {
    let first = Bank::new();
    let nodes: Vec<_> = (0..3)
        .map(|_| {
            let builder = host.builder().retry(at_once(1000)).max_batch(4);
            builder
                .fold_write(Deposits::new(), Bank::on(first.books.clone()))
                .unwrap()
        })
        .collect();
    host.run(async {
        // Every input goes to two of the three.
        let mut all = Vec::new();
        for id in 0..200 {
            let deposit = deposit(id, 1);
            let [one, other] = [id % 3, (id + 1) % 3].map(|node| &nodes[node as usize]);
            all.push([one, other].map(|node| node.submit(id % 2, deposit).unwrap()));
        }
        for [one, other] in all {
            assert_eq!(one.await.unwrap(), other.await.unwrap());
        }
        let mut ids = first.books.ids();
        ids.sort_unstable();
        assert_eq!(ids, (0..200).collect::<Vec<_>>());
        for node in &nodes {
            assert_nothing_is_left(node);
        }
    });
}
