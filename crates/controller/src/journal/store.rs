//! The table of records in its file.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::entry::{CHECKPOINT, Stored};
use super::{Durability, FORMAT, JournalError};

/// Marks the file as a journal of Motley: "Motl".
const APPLICATION: u32 = 0x4d6f_746c;

/// The most bytes of one record that are read.
const RECORD_MAX: usize = 1 << 30;

/// `base` holds the number and the checksum of the last record that was dropped.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS record (
        number INTEGER PRIMARY KEY,
        format INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body BLOB NOT NULL,
        checksum BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS checkpoint ON record (number) WHERE kind = 'checkpoint';
    CREATE TABLE IF NOT EXISTS base (number INTEGER NOT NULL, checksum BLOB NOT NULL);
";

type Checksum = [u8; 32];

/// One record as it is stored.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its number; the first is 1, and none is left out.
    pub number: u64,
    /// The version of its format.
    pub format: u32,
    /// What kind of entry it is.
    pub kind: String,
    /// The entry, as JSON.
    pub body: Vec<u8>,
}

/// What a look at every record found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// How many records are as they were written, from the first one on.
    pub sound: u64,
    /// The first that is not, and what is wrong with it.
    pub damage: Option<(u64, String)>,
}

/// The file, and where its chain of checksums ends.
pub(super) struct Store {
    connection: Connection,
    last: u64,
    chain: Checksum,
    synced: bool,
}

impl Store {
    pub(super) fn open(path: &Path) -> Result<Self, JournalError> {
        let fail = |source| JournalError::Open { path: path.to_owned(), source };
        let connection = Connection::open(path).map_err(fail)?;
        let mark: u32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(|error| match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => JournalError::Foreign(path.to_owned()),
                _ => fail(error),
            })?;
        let tables: u32 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(fail)?;
        if mark != APPLICATION && tables > 0 {
            return Err(JournalError::Foreign(path.to_owned()));
        }
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .and_then(|()| connection.pragma_update(None, "synchronous", "FULL"))
            .and_then(|()| connection.pragma_update(None, "wal_autocheckpoint", 2_000))
            .and_then(|()| connection.pragma_update(None, "application_id", APPLICATION))
            .and_then(|()| connection.execute_batch(TABLES))
            .map_err(fail)?;
        let end = "SELECT number, checksum FROM record ORDER BY number DESC LIMIT 1";
        let base = "SELECT number, checksum FROM base";
        let mut found = None;
        for query in [end, base] {
            let row = connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)));
            found = found.or(row.optional().map_err(fail)?);
        }
        let (last, chain) = found.unwrap_or((0, Checksum::default()));
        Ok(Self { connection, last, chain, synced: true })
    }

    /// Writes all of these or none. How many bytes it was.
    pub(super) fn append(
        &mut self,
        entries: &[Stored],
        durability: Durability,
    ) -> Result<u64, JournalError> {
        let (mut last, mut chain, mut bytes) = (self.last, self.chain, 0);
        let synced = durability == Durability::Synced;
        if synced != self.synced {
            let level = if synced { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", level).map_err(written)?;
            self.synced = synced;
        }
        let transaction = self.connection.transaction().map_err(written)?;
        {
            let insert = "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut insert = transaction.prepare_cached(insert).map_err(written)?;
            for entry in entries {
                let (kind, body) = (entry.kind(), entry.encode());
                last += 1;
                chain = checksum(&chain, last, (FORMAT, kind), &body);
                insert.execute(params![last, FORMAT, kind, body, chain]).map_err(written)?;
                bytes += body.len() as u64;
            }
        }
        transaction.commit().map_err(written)?;
        (self.last, self.chain) = (last, chain);
        Ok(bytes)
    }

    /// Reads from the last checkpoint on; environments that it names lie right before it.
    pub(super) fn read_from_checkpoint(
        &self,
        each: &mut dyn FnMut(&Record) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let query = "SELECT max(number) FROM record WHERE kind = ?1";
        let found: Option<u64> =
            self.connection.query_row(query, [CHECKPOINT], |row| row.get(0)).map_err(read)?;
        let from = match found {
            None => 0,
            Some(checkpoint) => self.begin_of(checkpoint)?,
        };
        self.read(from, each)
    }

    /// Where what belongs to a checkpoint begins.
    fn begin_of(&self, checkpoint: u64) -> Result<u64, JournalError> {
        let query = "SELECT max(number) FROM record WHERE number < ?1 AND kind != 'environment'";
        let before: Option<u64> =
            self.connection.query_row(query, [checkpoint], |row| row.get(0)).map_err(read)?;
        Ok(before.map_or(0, |before| before + 1))
    }

    pub(super) fn read(
        &self,
        from: u64,
        each: &mut dyn FnMut(&Record) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let damaged = |number, what: &str| JournalError::Damaged { number, what: what.to_owned() };
        let (mut number, mut chain) = self.link_before(from)?;
        let query = "SELECT number, format, kind, body, checksum FROM record
                     WHERE number > ?1 ORDER BY number";
        let mut query = self.connection.prepare(query).map_err(read)?;
        let mut rows = query.query([number]).map_err(read)?;
        while let Some(row) = rows.next().map_err(read)? {
            number += 1;
            let found: u64 = row.get(0).map_err(read)?;
            if found != number {
                return Err(damaged(number, "it is missing"));
            }
            let of_other_type = |_| damaged(number, "a column has another type");
            let record = Record {
                number,
                format: row.get(1).map_err(of_other_type)?,
                kind: row.get(2).map_err(of_other_type)?,
                body: row.get(3).map_err(of_other_type)?,
            };
            let told: Checksum = row.get(4).map_err(of_other_type)?;
            chain = checksum(&chain, number, (record.format, &record.kind), &record.body);
            if told != chain {
                return Err(damaged(number, "its checksum is another"));
            }
            if record.format > FORMAT {
                return Err(JournalError::Newer { number, format: record.format });
            }
            if record.body.len() > RECORD_MAX {
                return Err(damaged(number, "it is too long"));
            }
            each(&record)?;
        }
        Ok(())
    }

    /// The number and checksum of the record before this one, as they are stored.
    fn link_before(&self, from: u64) -> Result<(u64, Checksum), JournalError> {
        let query = "SELECT number, checksum FROM record WHERE number = ?1
                     UNION ALL SELECT number, checksum FROM base LIMIT 1";
        let row = self
            .connection
            .query_row(query, [from.saturating_sub(1)], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(row.optional().map_err(read)?.unwrap_or((0, Checksum::default())))
    }

    pub(super) fn prune(&mut self) -> Result<u64, JournalError> {
        let query = "SELECT max(number) FROM record WHERE kind = ?1";
        let found: Option<u64> =
            self.connection.query_row(query, [CHECKPOINT], |row| row.get(0)).map_err(read)?;
        let Some(checkpoint) = found else { return Ok(0) };
        let begin = self.begin_of(checkpoint)?;
        let (last, chain) = self.link_before(begin)?;
        let transaction = self.connection.transaction().map_err(written)?;
        transaction.execute("DELETE FROM base", []).map_err(written)?;
        let base = "INSERT INTO base VALUES (?1, ?2)";
        transaction.execute(base, params![last, chain]).map_err(written)?;
        let dropped = transaction
            .execute("DELETE FROM record WHERE number < ?1", [begin])
            .map_err(written)?;
        transaction.commit().map_err(written)?;
        self.connection.execute_batch("VACUUM").map_err(written)?;
        Ok(dropped as u64)
    }

    pub(super) fn verify(&self) -> Result<Audit, JournalError> {
        let mut sound = 0;
        let mut count = |_: &Record| {
            sound += 1;
            Ok(())
        };
        match self.read(0, &mut count) {
            Ok(()) => Ok(Audit { sound, damage: None }),
            Err(JournalError::Damaged { number, what }) => {
                Ok(Audit { sound, damage: Some((number, what)) })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn limit_pages(&self, most: u32) -> Result<(), JournalError> {
        let set = format!("PRAGMA max_page_count = {most}");
        self.connection.query_row(&set, [], |_| Ok(())).map_err(written)
    }

    /// How large the file is.
    pub(super) fn bytes(&self) -> Result<u64, JournalError> {
        let query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        self.connection.query_row(query, [], |row| row.get(0)).map_err(read)
    }
}

/// The checksum of a record: over the one before it and all that it says.
#[must_use]
pub fn checksum(
    before: &Checksum,
    number: u64,
    (format, kind): (u32, &str),
    body: &[u8],
) -> Checksum {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(number.to_le_bytes());
    hash.update(format.to_le_bytes());
    hash.update((kind.len() as u64).to_le_bytes());
    hash.update(kind);
    hash.update(body);
    hash.finalize().into()
}

fn read(error: rusqlite::Error) -> JournalError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            JournalError::Damaged { number: 0, what: error.to_string() }
        }
        _ => JournalError::Read(error),
    }
}

fn written(error: rusqlite::Error) -> JournalError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => JournalError::Full,
        _ => JournalError::Write(error),
    }
}
