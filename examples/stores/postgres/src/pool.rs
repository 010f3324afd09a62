//! The connections, each lent to one call at a time.

use std::{fmt, sync::Arc, time::Duration};

use deadpool_postgres::{
    Client, ClientWrapper, Manager, ManagerConfig, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use ferry_core::Fault;
use scopeguard::{ScopeGuard, guard};
use tokio::time::timeout;
use tokio_postgres::{
    Config, NoTls, Row,
    types::{ToSql, Type},
};

use crate::{
    OpenError, Options, PostgresError,
    sqlstate::{Unanswered, no_connection},
};

pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

pub(crate) struct Pool {
    connections: deadpool_postgres::Pool,
    answer_timeout: Duration,
}

impl Pool {
    pub(crate) fn new(options: &Options, mut config: Config) -> Result<Self, OpenError> {
        set_up(&mut config, options);
        let manager = Manager::from_config(
            config,
            NoTls,
            ManagerConfig {
                // A round trip to ask whether the connection is there would be wasted nearly always, and
                // prove nothing about the next.
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let connections = deadpool_postgres::Pool::builder(manager)
            .max_size(options.connections)
            .timeouts(Timeouts {
                wait: Some(options.wait_timeout),
                create: Some(options.connect_timeout),
                recycle: None,
            })
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(OpenError::Pool)?;
        Ok(Self {
            connections,
            answer_timeout: options.answer_timeout,
        })
    }

    pub(crate) fn answer_timeout(&self) -> Duration {
        self.answer_timeout
    }

    /// Waits for a connection, or opens one. Nothing has been asked of the server when this fails.
    pub(crate) async fn lend(&self) -> Result<Lent, Fault<PostgresError>> {
        match self.connections.get().await {
            Ok(client) => Ok(Lent {
                client,
                answer_timeout: self.answer_timeout,
            }),
            Err(PoolError::Backend(error)) => Err(no_connection(Arc::new(error))),
            Err(error @ PoolError::Timeout(deadpool_postgres::TimeoutType::Wait)) => Err(
                Fault::throttled(PostgresError::NoConnection(Arc::new(error)), None),
            ),
            Err(error) => Err(Fault::transient(PostgresError::NoConnection(Arc::new(
                error,
            )))),
        }
    }

    /// Asks what changes nothing, so that every failure is a plain one.
    pub(crate) async fn read(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Fault<PostgresError>> {
        let lent = self.lend().await?;
        lent.ask(sql, params).await.map_err(Unanswered::of_read)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("connections", &self.connections.status())
            .field("answer_timeout", &self.answer_timeout)
            .finish()
    }
}

/// A connection in the hands of one call.
pub(crate) struct Lent {
    client: Client,
    answer_timeout: Duration,
}

impl Lent {
    /// Asks, and gives the connection back when the answer is there. One statement, in a transaction of
    /// its own, in one round trip: done when the server says that it is ready for the next.
    ///
    /// Left in any other way than by an answer the connection is closed: it may still be busy, and whoever
    /// had it next would wait for that.
    pub(crate) async fn ask(self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Unanswered> {
        let client = guard(self.client, close);
        match timeout(self.answer_timeout, client.query_typed(sql, params)).await {
            Ok(Ok(rows)) => {
                drop(ScopeGuard::into_inner(client));
                Ok(rows)
            }
            Ok(Err(error)) => {
                let failed = Unanswered::Failed(Arc::new(error));
                if !failed.spoils_connection() {
                    drop(ScopeGuard::into_inner(client));
                }
                Err(failed)
            }
            Err(_elapsed) => Err(Unanswered::TimedOut {
                waited: self.answer_timeout,
            }),
        }
    }

    /// Takes the connection out of the pool, which may open another in its place.
    pub(crate) fn keep(self) -> ClientWrapper {
        Client::take(self.client)
    }
}

/// Takes the connection out of the pool and ends it.
fn close(client: Client) {
    drop(Client::take(client));
}

/// What the store's promises rest on, set for each of its sessions whatever the server's defaults are.
fn set_up(config: &mut Config, options: &Options) {
    let given = config.get_options().unwrap_or_default().to_owned();
    let settings = format!(
        // An answered commit is on the disk. A statement that had to wait looks at the row again.
        "-c synchronous_commit=on -c default_transaction_isolation=read\\ committed \
         -c lock_timeout={} -c statement_timeout={} {given}",
        options.lock_timeout.as_millis(),
        options.statement_timeout.as_millis(),
    );
    config.options(settings.trim_end());
    if config.get_application_name().is_none() {
        config.application_name("ferry-postgres");
    }
}
