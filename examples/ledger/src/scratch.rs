//! Room for two more ledgers beside one, for as long as they are compared.

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::{
    place::Place,
    store::{Kind, Store},
};

/// Room beside a ledger, on the same disk or the same server.
#[derive(Debug)]
pub enum Scratch {
    /// A folder beside its file.
    Folder(TempDir),
    /// Schemas in its database.
    #[cfg(feature = "postgres")]
    Schemas(schemas::Schemas),
}

impl Scratch {
    /// Makes room beside the ledger that is kept at `place`.
    ///
    /// # Errors
    ///
    /// There is none to be had.
    pub fn beside(place: &Place, store: &Store) -> Result<Self> {
        match (store.kind(), place) {
            (Kind::File(file), _) => {
                let beside = file.path().parent().context("the file is in no folder")?;
                let folder = tempfile::Builder::new()
                    .prefix("ledger-compare-")
                    .tempdir_in(beside);
                Ok(Self::Folder(
                    folder.context("cannot make a folder for the comparison")?,
                ))
            }
            #[cfg(feature = "postgres")]
            (Kind::Database(_), place) => Ok(Self::Schemas(schemas::Schemas::beside(place)?)),
        }
    }

    /// A place in it.
    #[must_use]
    pub fn place(&self, name: &str) -> Place {
        match self {
            Self::Folder(folder) => Place::File(folder.path().join(format!("{name}.db"))),
            #[cfg(feature = "postgres")]
            Self::Schemas(schemas) => schemas.place(name),
        }
    }

    /// Removes it, with all that was kept in it.
    ///
    /// # Errors
    ///
    /// It stays.
    pub async fn remove(self) -> Result<()> {
        match self {
            Self::Folder(folder) => folder
                .close()
                .context("cannot remove the folder of the comparison"),
            #[cfg(feature = "postgres")]
            Self::Schemas(schemas) => schemas.remove().await,
        }
    }
}

#[cfg(feature = "postgres")]
pub mod schemas {
    //! Room in a database.

    use anyhow::{Context, Result, bail};
    use tokio_postgres::NoTls;

    use crate::place::{Place, Url};

    /// The two that are compared.
    const NAMES: [&str; 2] = ["batched", "alone"];

    /// Schemas whose names begin alike.
    #[derive(Debug)]
    pub struct Schemas {
        url: Url,
        begin: String,
    }

    impl Schemas {
        pub(super) fn beside(place: &Place) -> Result<Self> {
            let Place::Postgres { url, .. } = place else {
                bail!("{place} is no database");
            };
            let number = getrandom::u32().context("the machine gives no random number")?;
            Ok(Self {
                url: url.clone(),
                begin: format!("ledger_compare_{number:08x}"),
            })
        }

        pub(super) fn place(&self, name: &str) -> Place {
            Place::Postgres {
                url: self.url.clone(),
                schema: Some(format!("{}_{name}", self.begin)),
            }
        }

        pub(super) async fn remove(self) -> Result<()> {
            let removing = "cannot remove the schemas of the comparison";
            let connected = tokio_postgres::connect(self.url.as_str(), NoTls).await;
            let (client, connection) = connected.context(removing)?;
            tokio::spawn(connection);
            for name in NAMES {
                let schema = format!("{}_{name}", self.begin);
                let drop = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
                client.batch_execute(&drop).await.context(removing)?;
            }
            Ok(())
        }
    }
}
