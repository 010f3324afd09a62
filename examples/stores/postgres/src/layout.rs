//! The tables: ours, new, or refused untouched.

use std::sync::Arc;

use deadpool_postgres::ClientWrapper;
use tokio::time::timeout;
use tokio_postgres::types::Type;

use crate::{
    OpenError, PostgresError,
    pool::{Param, Pool},
    sql::{self, LAYOUT, Statements, TABLES},
    sqlstate::fault,
};

/// Finds the tables, or creates them in a schema that has none, if it may.
pub(crate) async fn prepare(
    pool: &Pool,
    schema: Option<&str>,
    may_create: bool,
) -> Result<Statements, OpenError> {
    let lent = pool.lend().await;
    let lent = lent.map_err(|fault| OpenError::Server(fault.error))?;
    let waited = pool.answer_timeout();
    // What is half done here dies with its connection.
    match timeout(waited, prepare_on(lent.keep(), schema, may_create)).await {
        Ok(result) => result,
        Err(_elapsed) => Err(OpenError::Server(PostgresError::TimedOut { waited })),
    }
}

async fn prepare_on(
    mut client: ClientWrapper,
    schema: Option<&str>,
    may_create: bool,
) -> Result<Statements, OpenError> {
    let rows = client
        .query_typed(sql::SCHEMA, &[(&schema, Type::TEXT)])
        .await
        .map_err(failed)?;
    let schema: Option<String> = rows
        .first()
        .map(|row| row.try_get(0))
        .transpose()
        .map_err(failed)?
        .flatten();
    let statements = Statements::of(schema.ok_or(OpenError::NoSchema)?);
    if !are_there(&client, &statements).await? {
        if !may_create {
            let schema = statements.schema;
            return Err(OpenError::NoTables { schema });
        }
        create(&mut client, &statements).await?;
    }
    check_layout(&client, &statements).await?;
    Ok(statements)
}

/// Whether the tables are there: all, or none.
async fn are_there(
    client: &tokio_postgres::Client,
    statements: &Statements,
) -> Result<bool, OpenError> {
    let params: [Param<'_>; 2] = [
        (&statements.schema, Type::TEXT),
        (&&TABLES[..], Type::TEXT_ARRAY),
    ];
    let rows = client
        .query_typed(sql::TABLES_THERE, &params)
        .await
        .map_err(failed)?;
    let tables: Vec<String> = rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    if tables.is_empty() || tables == TABLES {
        return Ok(!tables.is_empty());
    }
    Err(OpenError::OtherProgram {
        schema: statements.schema.clone(),
        tables,
    })
}

/// Creates all of them or none, and only if nobody else has.
async fn create(client: &mut ClientWrapper, statements: &Statements) -> Result<(), OpenError> {
    let schema = &statements.schema;
    let transaction = client.transaction().await.map_err(failed)?;
    transaction
        .query_typed(sql::LOCK_LAYOUT, &[(schema, Type::TEXT)])
        .await
        .map_err(failed)?;
    if are_there(transaction.client(), statements).await? {
        return Ok(());
    }
    let rows = transaction
        .query_typed(sql::HAS_SCHEMA, &[(schema, Type::TEXT)])
        .await
        .map_err(failed)?;
    let has_schema = rows
        .first()
        .map(|row| row.try_get(0))
        .transpose()
        .map_err(failed)?;
    if has_schema == Some(false) {
        let create = sql::CREATE_SCHEMA.replace('@', &sql::quoted(schema));
        transaction.batch_execute(&create).await.map_err(failed)?;
    }
    transaction
        .batch_execute(&statements.create)
        .await
        .map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

async fn check_layout(
    client: &tokio_postgres::Client,
    statements: &Statements,
) -> Result<(), OpenError> {
    let rows = match client.query_typed(&statements.read_layout, &[]).await {
        Ok(rows) => rows,
        Err(error) => {
            let error = failed(error);
            // It has our name, and not our columns.
            let is_other = matches!(error, OpenError::Server(PostgresError::OtherTables(_)));
            return Err(if is_other {
                other_program(statements)
            } else {
                error
            });
        }
    };
    let layouts: Result<Vec<i32>, _> = rows.iter().map(|row| row.try_get(0)).collect();
    match layouts.as_deref() {
        Ok([LAYOUT]) => Ok(()),
        Ok([found]) => Err(OpenError::OtherLayout {
            schema: statements.schema.clone(),
            found: *found,
            known: LAYOUT,
        }),
        Ok(_) | Err(_) => Err(other_program(statements)),
    }
}

fn other_program(statements: &Statements) -> OpenError {
    OpenError::OtherProgram {
        schema: statements.schema.clone(),
        tables: vec!["ferry_layout".into()],
    }
}

fn failed(error: tokio_postgres::Error) -> OpenError {
    OpenError::Server(fault(Arc::new(error)).error)
}
