//! Policies as files.
//!
//! In comes the text of a TOML file, out goes a [`Policy`] or a [`PolicyError`]
//! that names file, line and word, and the valid word that is most like it.
//! [`text`] is the way back, and [`SHIPPED`] holds the policies that come with
//! the program. `docs/policies.md` describes the form for those who write it.
//!
//! Strict on purpose: a field that nothing would read is refused, so that a
//! policy never says something that does not happen. Never touches the disk.

mod allocate;
mod error;
mod externals;
mod nearest;
mod table;
mod text;
mod weighting;

use fleet::policy::{Batch, EXTERNALS_MAX, OrderKey, Pick, Scale, Weighting};
use fleet::{Bytes, Level, Micro, Milli, Millijoules, Policy, Span};

pub use error::{Place, PolicyError};
pub use externals::without_idle_signals;
pub use nearest::nearest;
pub use text::text;

use table::{Field, Source, Table};

/// The version of the form that is read and written.
pub const FORMAT: u32 = 1;

/// The policies that come with the program, by name: Motley's own, then the baselines.
pub const SHIPPED: &[(&str, &str)] = &[
    ("default", include_str!("../policies/default.toml")),
    ("by-utilisation", include_str!("../policies/by-utilisation.toml")),
    ("pack", include_str!("../policies/pack.toml")),
    ("green", include_str!("../policies/green.toml")),
    ("balanced", include_str!("../policies/balanced.toml")),
    ("mean", include_str!("../policies/mean.toml")),
    ("mean-fair", include_str!("../policies/mean-fair.toml")),
    ("max-min-fair", include_str!("../policies/max-min-fair.toml")),
    ("finish-time-fair", include_str!("../policies/finish-time-fair.toml")),
    ("makespan", include_str!("../policies/makespan.toml")),
    ("throughput", include_str!("../policies/throughput.toml")),
    ("round-robin", include_str!("../policies/round-robin.toml")),
    ("priority", include_str!("../policies/priority.toml")),
    ("fair-share", include_str!("../policies/fair-share.toml")),
];

/// What a scale is where the file does not say. Small against the jobs that clusters run: a minute
/// of waiting, a tenth of a node, one device, a tenth of the nodes, the energy of one GPU in half a
/// minute, one late job in twenty, what a network of 10 Gbit/s carries in eight seconds, a minute
/// by which others end later, one of a signal's unit. Policies that do not weigh have it too,
/// unread.
pub const SCALE: Scale = Scale {
    completion: Span::seconds(60),
    utilisation: Milli(100),
    fragmentation: Milli(1000),
    companion: Milli(1000),
    rarity: Milli(10_000),
    energy: Millijoules(12_000_000),
    deadline: Micro(50_000),
    locality: Bytes(10_000_000_000),
    interference: Span::seconds(60),
    externals: [Level(1_000_000); EXTERNALS_MAX],
};

/// The shipped policy of this name.
///
/// # Panics
/// Never: every shipped policy is read in a test.
#[must_use]
pub fn shipped(name: &str) -> Option<Policy> {
    let (name, text) = SHIPPED.iter().find(|(shipped, _)| *shipped == name)?;
    Some(read(name, text).expect("shipped policies are valid"))
}

/// The policy in `text`; `file` is what errors call it.
///
/// # Errors
/// If the text is not a policy: the first thing that is wrong with it.
pub fn read(file: &str, text: &str) -> Result<Policy, PolicyError> {
    let source = Source { file, text };
    let document = source.parse()?;
    let table = Table::whole(source, &document);
    read_format(&table)?;
    table.accept(&FIELDS)?;
    let pick = table.required("pick")?.one_of("pick", &PICKS)?;
    refuse_unread(&table, pick)?;
    let (tiers, externals) =
        if pick.weighs() { read_tiers(&table, pick)? } else { (Vec::new(), Vec::new()) };
    let policy = Policy {
        name: read_name(&table.required("name")?)?,
        description: match table.optional("description") {
            Some(field) => field.string()?.to_owned(),
            None => String::new(),
        },
        order: read_order(&table.required("order")?)?,
        pick,
        tiers,
        patience: read_patience(&table)?,
        oversubscribe: read_oversubscribe(&table)?,
        scale: match table.optional("scale") {
            Some(field) => read_scale(&field.table()?, &externals)?,
            None => SCALE,
        },
        externals,
        batch: match table.optional("batch") {
            Some(field) => Some(read_batch(&field.table()?)?),
            None => None,
        },
        allocate: allocate::read(&table)?,
    };
    Ok(without_idle_signals(policy))
}

/// What a key of the queue's order is called in files.
#[must_use]
pub fn order_key_name(key: OrderKey) -> &'static str {
    name_of(key, &ORDER_KEYS)
}

/// What a way to pick is called in files.
#[must_use]
pub fn pick_name(pick: Pick) -> &'static str {
    name_of(pick, &PICKS)
}

const FIELDS: [&str; 11] = [
    "format",
    "name",
    "description",
    "order",
    "pick",
    "patience",
    "oversubscribe",
    "batch",
    "allocate",
    "tier",
    "scale",
];

const PICKS: [(&str, Pick); 4] = [
    ("weighted", Pick::Weighted),
    ("knee", Pick::Knee),
    ("rotation", Pick::Rotation),
    ("spread", Pick::Spread),
];

/// Fields that are not read with every pick, and the picks with which they are.
const READ_WITH: [(&str, &[Pick]); 5] = [
    ("tier", &[Pick::Weighted, Pick::Knee]),
    ("patience", &[Pick::Weighted, Pick::Knee]),
    ("batch", &[Pick::Weighted]),
    ("allocate", &[Pick::Weighted, Pick::Knee]),
    ("scale", &[Pick::Weighted, Pick::Knee]),
];

const ORDER_KEYS: [(&str, OrderKey); 3] = [
    ("first-in", OrderKey::FirstIn),
    ("priority", OrderKey::Priority),
    ("fair-share", OrderKey::FairShare),
];

/// The most that a weight or the patience may be. Far more than anybody means, and small enough
/// that no sum of weights and no product with a time can overflow.
const FACTOR_MAX: Milli = Milli(1_000_000);

fn name_of<T: PartialEq + Copy>(value: T, names: &[(&'static str, T)]) -> &'static str {
    let named = names.iter().find(|(_, named)| *named == value);
    named.expect("the table names every value").0
}

/// Before all else, so that a file of a later version is not blamed for its new fields.
fn read_format(table: &Table<'_>) -> Result<(), PolicyError> {
    let field = table.required("format")?;
    if field.source_text() != FORMAT.to_string() {
        return Err(PolicyError::Format {
            at: field.place(),
            found: field.source_text().to_owned(),
            known: FORMAT,
        });
    }
    Ok(())
}

fn refuse_unread(table: &Table<'_>, pick: Pick) -> Result<(), PolicyError> {
    for (name, with) in READ_WITH.iter().filter(|(_, with)| !with.contains(&pick)) {
        if let Some(field) = table.optional(name) {
            return Err(PolicyError::Unread {
                at: field.place(),
                field: name,
                with: with.iter().map(|pick| pick_name(*pick)).collect(),
                pick: pick_name(pick),
            });
        }
    }
    Ok(())
}

fn read_name(field: &Field<'_>) -> Result<String, PolicyError> {
    let name = field.string()?;
    if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
        return Err(field.wrong("a name on one line, without blanks around it"));
    }
    Ok(name.to_owned())
}

fn read_order(field: &Field<'_>) -> Result<Vec<OrderKey>, PolicyError> {
    let mut order = Vec::new();
    for item in field.items()? {
        let key = item.one_of("order key", &ORDER_KEYS)?;
        if order.contains(&key) {
            return Err(PolicyError::Repeated {
                at: item.place(),
                field: "order",
                word: order_key_name(key),
            });
        }
        order.push(key);
    }
    if order.is_empty() {
        return Err(field.wrong("a list of at least one key"));
    }
    Ok(order)
}

/// The tiers, and the signals that they weigh, by slot.
fn read_tiers(table: &Table<'_>, pick: Pick) -> Result<(Vec<Weighting>, Vec<String>), PolicyError> {
    let field = table.required("tier")?;
    let items = field.items()?;
    if !(1..=fleet::policy::TIERS_MAX).contains(&items.len()) {
        return Err(PolicyError::TierCount { at: field.place(), found: items.len() });
    }
    let externals = externals::names(&items)?;
    let tier = |item: &Field<'_>| weighting::read(&item.table()?, pick, &externals);
    Ok((items.iter().map(tier).collect::<Result<_, _>>()?, externals))
}

fn read_patience(table: &Table<'_>) -> Result<Milli, PolicyError> {
    match table.optional("patience") {
        Some(field) => field.milli_within(Milli::ZERO, FACTOR_MAX, "at most 1000"),
        None => Ok(Milli::ZERO),
    }
}

/// The most that a channel may be held beyond what passes it: nobody means more.
const OVERSUBSCRIBE_MAX: Milli = Milli(100_000);

fn read_oversubscribe(table: &Table<'_>) -> Result<Milli, PolicyError> {
    match table.optional("oversubscribe") {
        Some(field) => field.milli_within(Milli::WHOLE, OVERSUBSCRIBE_MAX, "from 1 to 100"),
        None => Ok(Milli::WHOLE),
    }
}

/// The most tasks of a batch: what looking ahead costs grows with their square.
const BATCH_MAX: u32 = 64;

fn read_batch(table: &Table<'_>) -> Result<Batch, PolicyError> {
    table.accept(&["max_jobs", "max_delay"])?;
    let field = table.required("max_jobs")?;
    let wanted = "a whole number from 2 to 64";
    let max_jobs = field.whole_within(2, BATCH_MAX, wanted)?;
    let field = table.required("max_delay")?;
    let max_delay: Span = field.quantity(field.string()?)?;
    field.refuse_zero(max_delay.is_zero())?;
    Ok(Batch { max_jobs, max_delay })
}

fn read_scale(table: &Table<'_>, externals: &[String]) -> Result<Scale, PolicyError> {
    externals::accept(table, "field", externals)?;
    let mut scale = SCALE;
    scale.externals = externals::scales(table, externals)?;
    if let Some(field) = table.optional("completion") {
        scale.completion = field.quantity(field.string()?)?;
        field.refuse_zero(scale.completion.is_zero())?;
    }
    if let Some(field) = table.optional("utilisation") {
        scale.utilisation = field.milli_within(Milli(1), Milli::WHOLE, "above 0 and at most 1")?;
    }
    if let Some(field) = table.optional("fragmentation") {
        scale.fragmentation = field.milli_within(Milli(1), Milli(u32::MAX), "above 0")?;
    }
    if let Some(field) = table.optional("companion") {
        scale.companion = field.milli_within(Milli(1), Milli(u32::MAX), "above 0")?;
    }
    if let Some(field) = table.optional("rarity") {
        scale.rarity = field.milli_within(Milli(1), Milli(u32::MAX), "above 0")?;
    }
    if let Some(field) = table.optional("energy") {
        scale.energy = field.quantity(field.string()?)?;
        field.refuse_zero(scale.energy.is_zero())?;
    }
    if let Some(field) = table.optional("deadline") {
        scale.deadline = field.probability()?;
    }
    if let Some(field) = table.optional("locality") {
        scale.locality = field.quantity(field.string()?)?;
        field.refuse_zero(scale.locality.is_zero())?;
    }
    if let Some(field) = table.optional("interference") {
        scale.interference = field.quantity(field.string()?)?;
        field.refuse_zero(scale.interference.is_zero())?;
    }
    Ok(scale)
}

#[cfg(test)]
mod tests;
