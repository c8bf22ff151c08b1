//! Catalogues of datasets: check and list.

use std::collections::BTreeSet;
use std::path::Path;

use fleet::{Bytes, Catalogue};
use serde::Serialize;
use sim::Inventory;
use sim::read;

use crate::{args, out, render};

pub(super) fn run(command: args::Catalogue) -> anyhow::Result<()> {
    match command {
        args::Catalogue::List { file, fleet, json } => list(&file, &fleet, json),
        args::Catalogue::Check { file, fleet } => check(&file, &fleet),
    }
}

/// One dataset, for the listing.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// How large it is.
    pub bytes: u64,
    /// The nodes that hold it.
    pub nodes: Vec<String>,
}

fn list(file: &Path, fleet: &Path, json: bool) -> anyhow::Result<()> {
    let (inventory, catalogue) = read(file, fleet)?;
    let listed: Vec<Listed> = catalogue
        .holdings
        .iter()
        .map(|(name, holding)| Listed {
            name: name.to_string(),
            bytes: holding.size.0,
            nodes: holding
                .nodes
                .iter()
                .map(|id| inventory.nodes[id.index()].name.clone())
                .collect(),
        })
        .collect();
    if json { out::print_json(&listed) } else { out::print(&render::datasets(&listed)) }
}

fn check(file: &Path, fleet: &Path) -> anyhow::Result<()> {
    let (_, catalogue) = read(file, fleet)?;
    let nodes: BTreeSet<_> =
        catalogue.holdings.values().flat_map(|holding| holding.nodes.iter()).collect();
    let bytes: u128 = catalogue.holdings.values().map(|holding| u128::from(holding.size.0)).sum();
    let bytes = Bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    out::print(&format!(
        "{}: ok, {} of {bytes} on {}\n",
        file.display(),
        render::count(catalogue.holdings.len() as u64, "dataset"),
        render::count(nodes.len() as u64, "node")
    ))
}

fn read(file: &Path, fleet: &Path) -> anyhow::Result<(Inventory, Catalogue)> {
    let options = read::Options::default();
    let inventory = read::inventory(fleet, &options)?.value;
    let catalogue = read::catalogue(file, &inventory, &options)?.value;
    Ok((inventory, catalogue))
}
