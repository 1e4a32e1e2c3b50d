//! What directory and database are to each other when a process joins: whether they belong together, which log it follows,
//! and whether the books in the directory can go on with that.

use persistence::{
    DirectoryPosition, Error, Membership,
    frames::{FramePosition, Frames},
};
use uuid::Uuid;

use super::{
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, within},
    log::PostgresFrames,
    member::Member,
    schema,
    segments::Segments,
};

/// Compares what the directory knows with what the database has. `Some`: why its books cannot go on with the log, which
/// has everything that was ever acknowledged to this process, unless it `is_moved`: has followed another log so far.
pub(super) fn check(
    directory: &DirectoryPosition<'_>,
    frames: &PostgresFrames,
    is_moved: bool,
) -> Result<Option<String>, Error> {
    let base = frames.cell()?.map(|cell| cell.base).unwrap_or_default();
    if is_moved && directory.applied.lsn.max(directory.acknowledged.lsn) > base.lsn {
        return Ok(Some(format!(
            "they went on with another log behind frame {}, from which this one goes on",
            base.lsn
        )));
    }
    let has = |place: FramePosition| {
        if place.lsn < base.lsn {
            // Gone for good, so it is not compared.
            return Ok(true);
        }
        if place.lsn == base.lsn {
            return Ok(place == base);
        }
        let kept = frames.at(place.lsn)?;
        Ok::<_, Error>(kept.is_some_and(|kept| kept.place == place))
    };
    if !has(directory.acknowledged)? {
        let head = newest(frames, base.lsn)?;
        return Err(Error::Unusable(format!(
            "the database has lost frames of the log: frame {} was acknowledged to this process as durable, the \
             database ends at frame {head}. It was restored to an earlier time, or a standby was promoted that did \
             not have all; {} is not touched",
            directory.acknowledged.lsn,
            directory.root.display()
        )));
    }
    if directory.applied.lsn < base.lsn {
        return Ok(Some(match directory.applied.lsn {
            0 => format!(
                "it has none yet, and the log begins behind frame {}",
                base.lsn
            ),
            applied => format!(
                "they end at frame {applied}, and the log begins behind frame {}",
                base.lsn
            ),
        }));
    }
    Ok(match has(directory.applied)? {
        true => None,
        false => Some(format!(
            "they have frame {}, which the database has lost before it was durable",
            directory.applied.lsn
        )),
    })
}

/// The number of the last frame.
fn newest(frames: &PostgresFrames, base: u64) -> Result<u64, Error> {
    let mut last = base;
    frames.walk(
        FramePosition {
            lsn: base,
            hash: [0; 32],
        },
        &mut |lsn, _| {
            last = lsn;
            Ok(())
        },
    )?;
    Ok(last)
}

/// What directory and database are to each other.
pub(super) struct Admission {
    pub membership: Membership,
    /// Of the log that is followed.
    pub segments: Segments,
    /// The cell that the process is to become: it does not exist yet, or begins behind its books.
    pub joins: Option<i16>,
    /// Whether the directory has followed another log of the cluster so far: nothing says yet that it follows this one.
    pub is_moved: bool,
}

/// Makes the tables where there are none, and says what directory and database are to each other.
pub(super) async fn admit(
    member: &Member,
    place: &DirectoryPosition<'_>,
) -> Result<Admission, Error> {
    let mut connection = member.server.connect().await?;
    let own = Membership::read(place.root)?;
    let mut found = look(&connection).await?;
    let key_check = (member.key_check)(found.is_some())?;
    if found.is_none() {
        if own.is_some() {
            return Err(Error::Unusable(format!(
                "{} belongs to a cluster, and the database has no log of one: is storage.url the right one?",
                place.root.display()
            )));
        }
        let segments = Segments::new(member.cell, member.segment_frames_log2);
        let made = schema::make(&mut connection, segments, place.applied, &key_check).await;
        found = look(&connection).await?;
        // Another may have been faster: what it made is looked at below.
        if found.is_none() {
            made?;
        }
    }
    let (cluster, cells) =
        found.ok_or_else(|| Error::Unreachable("it has lost its tables".into()))?;
    // A newer key behind those that the cluster knows is noted before anything is written under it.
    let is_replaced = key_check.len() > cluster.key_check.len();
    if is_replaced && key_check.starts_with(&cluster.key_check) {
        schema::note_key(&connection, &cluster.key_check, &key_check).await?;
    } else if cluster.key_check.len() > key_check.len() && cluster.key_check.starts_with(&key_check)
    {
        return Err(Error::Unusable(
            "the server key of this cluster was replaced, and this process has only the former one"
                .into(),
        ));
    } else if cluster.key_check != key_check {
        return Err(Error::Unusable(
            "the server key is another one than the cluster's: give each process the same SCRIP_SERVER_KEY or server.key"
                .into(),
        ));
    }
    let cell = follows(member, &cells, own.as_ref(), place)?;
    let admission = |membership, is_moved| Admission {
        membership,
        segments: Segments::new(cell.number, cell.segment_frames_log2),
        joins: (cell.number != member.cell).then_some(member.cell),
        is_moved,
    };
    match own {
        // Or noted already which cell it is to become, which the database lost before any process had led it.
        Some(own)
            if own.cluster == cluster.id && [cell.number, member.cell].contains(&own.cell) =>
        {
            Ok(admission(own, false))
        }
        // It followed that log so that it could become this cell.
        Some(own) if own.cluster == cluster.id && own.cell == member.split_from => {
            let cell = cell.number;
            Ok(admission(Membership { cell, ..own }, true))
        }
        Some(_) => Err(Error::Unusable(format!(
            "{} belongs to another cluster or another cell of it: is storage.url the right one?",
            place.root.display()
        ))),
        // The log goes on behind this directory, or the directory is new.
        None if place.applied == cell.base || place.applied.lsn == 0 => {
            let membership = Membership {
                cluster: cluster.id,
                node: Uuid::new_v4(),
                cell: cell.number,
            };
            membership.write(place.root)?;
            Ok(admission(membership, false))
        }
        None => Err(Error::Unusable(format!(
            "{} holds data of its own, and the database has the log of another: use an empty directory to join it, or \
             an empty database to move this data there",
            place.root.display()
        ))),
    }
}

/// The log that a process follows: its cell's. Where that does not exist yet, the one that it will come from; also where
/// the books have not come as far as it begins, and find the rest there.
fn follows<'a>(
    member: &Member,
    cells: &'a [schema::Cell],
    own: Option<&Membership>,
    place: &DirectoryPosition<'_>,
) -> Result<&'a schema::Cell, Error> {
    let of = |number| cells.iter().find(|cell| cell.number == number);
    let (cell, from) = (of(member.cell), of(member.split_from));
    let goes_on_with = |from: &schema::Cell, cell: &schema::Cell| {
        own.is_some_and(|own| own.cell == from.number)
            && (from.base.lsn..cell.base.lsn).contains(&place.applied.lsn)
    };
    match (cell, from) {
        (Some(cell), Some(from)) if goes_on_with(from, cell) => Ok(from),
        (Some(cell), _) | (None, Some(cell)) => Ok(cell),
        (None, None) => Err(Error::Unusable(format!(
            "the database has neither cell {} (cluster.cell) nor cell {} (cluster.split_from), from which it would come: \
             set one of them to a cell that is there",
            member.cell, member.split_from
        ))),
    }
}

/// Whose database it is, and the logs in it; `None`: there are none.
async fn look(
    connection: &Connection,
) -> Result<Option<(schema::Cluster, Vec<schema::Cell>)>, DatabaseError> {
    let Some(cluster) = within(ANSWER_TIMEOUT, schema::cluster(connection)).await? else {
        return Ok(None);
    };
    let cells = within(ANSWER_TIMEOUT, schema::cells(connection)).await?;
    Ok((!cells.is_empty()).then_some((cluster, cells)))
}
