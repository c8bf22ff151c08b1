//! Plots: the curves of every contender, one file for each figure.
//!
//! Figures come in; SVG files go out, named like the records: what is not the
//! published setting is part of the name. A policy has one pen in every plot:
//! thin and dull if it is of the literature, broad and bright if it is
//! Motley's. Nothing is measured here.

use std::path::Path;

use anyhow::Context as _;

use super::account::Curves;
use super::contender::{Contender, OURS, REFERENCES};
use super::curve::{Curve, LOAD_MAX};
use super::figures::Figures;
use super::report::{self, BASELINE, Label};
use crate::chart::{self, Axis, Chart, Line, Pen};

/// The load from which allocation is shown once more, larger: before it, next to nothing is
/// refused.
const DETAIL: usize = 85;

/// The last allocated load of a plot, in percent.
const ALLOCATED_MAX: usize = 100;

/// Of Motley's policies, in the order of [`OURS`]; then for others that are named.
const BRIGHT: [(u8, u8, u8); 8] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 70, 150),
    (150, 80, 220),
    (200, 140, 0),
    (0, 160, 200),
    (130, 60, 20),
];

/// Of the reference policies, in their order; dark enough to read their names on white.
const DULL: [(u8, u8, u8); 12] = [
    (150, 150, 150),
    (125, 108, 78),
    (105, 130, 150),
    (150, 112, 140),
    (100, 140, 108),
    (95, 95, 95),
    (0, 0, 0),
    (176, 130, 96),
    (112, 132, 178),
    (168, 110, 110),
    (92, 150, 150),
    (134, 128, 178),
];

const ARRIVED: &str = "arrived load (% of all GPUs)";

/// What a plot shows of a contender at a load in percent.
type Height<'a> = &'a dyn Fn(&Figures, usize) -> Option<f64>;

/// Makes the folder where there is none.
///
/// # Errors
/// If it cannot be made.
pub fn prepare(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| {
        format!("make the folder {} for plots; name another by --plots", folder.display())
    })
}

/// Writes every plot into the folder and returns the names of the files.
///
/// # Errors
/// If one cannot be drawn or written.
pub fn write(folder: &Path, figures: &[Figures], label: Label<'_>) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for (name, chart) in charts(figures, label) {
        let file = format!("{}.svg", report::full_name(name, "", label));
        let path = folder.join(&file);
        let text = chart::draw(&chart)?;
        std::fs::write(&path, text).with_context(|| {
            format!("write {}; free it or name another folder by --plots", path.display())
        })?;
        files.push(file);
    }
    Ok(files)
}

/// Every plot with its name.
fn charts(figures: &[Figures], label: Label<'_>) -> Vec<(&'static str, Chart)> {
    let subtitle = format!("{label}; thick: Motley's policies, thin: references");
    let plot = |title: &str, (across, from, to): (&str, usize, usize), up: &str, height: Height| {
        let lines = lines(figures, from..=to, height);
        let values = lines.iter().flat_map(|line| line.points.iter().map(|(_, value)| *value));
        let up = Axis::fitted(up, values);
        let across = Axis { title: across.to_owned(), from: from as f64, to: to as f64 };
        Chart { title: title.to_owned(), subtitle: subtitle.clone(), across, up, lines }
    };
    let by_arrived = |title: &str, from: usize, up: &str, which: fn(&Curves) -> &Curve| {
        plot(title, (ARRIVED, from, LOAD_MAX), up, &|one, load| one.at(load, which))
    };
    let allocated: fn(&Curves) -> &Curve = |curves| &curves.allocated;
    let of_all = "allocated (% of all GPUs)";
    let mut charts = vec![
        ("allocation", by_arrived("Allocation", 0, of_all, allocated)),
        ("allocation-detail", by_arrived("Allocation near full load", DETAIL, of_all, allocated)),
        (
            "fragmentation",
            by_arrived("Fragmentation", 0, "unusable (% of all GPUs)", |curves| &curves.fragmented),
        ),
        (
            "fragmentation-of-free",
            by_arrived("Fragmentation of what is free", 0, "unusable (% of free GPUs)", |curves| {
                &curves.fragmented_of_free
            }),
        ),
        ("power", by_arrived("Power", 0, "power (kW)", |curves| &curves.kilowatts)),
    ];
    let baseline = figures.iter().find(|one| one.contender.name() == BASELINE);
    if baseline.is_some() {
        let across = ("allocated load (% of all GPUs)", 0, ALLOCATED_MAX);
        let title = format!("Power saved against {BASELINE} when as much is allocated");
        let height = |one: &Figures, load| report::saving(one, baseline, load);
        charts.push(("saving", plot(&title, across, "power saved (%)", &height)));
    }
    charts
}

/// The lines of all contenders, Motley's last and so above the others.
fn lines(
    figures: &[Figures],
    loads: std::ops::RangeInclusive<usize>,
    height: Height<'_>,
) -> Vec<Line> {
    let line = |one: &Figures| {
        let point = |load| Some((load as f64, height(one, load)?));
        Line {
            name: one.contender.name().to_owned(),
            pen: pen(&one.contender),
            points: loads.clone().filter_map(point).collect(),
        }
    };
    let (ours, references): (Vec<&Figures>, Vec<&Figures>) =
        figures.iter().partition(|one| matches!(one.contender, Contender::Ours(_)));
    references.into_iter().chain(ours).map(line).collect()
}

/// The pen of a contender, the same in every plot and whoever else takes part.
fn pen(contender: &Contender) -> Pen {
    let name = contender.name();
    match contender {
        Contender::Ours(_) => {
            let shipped = controller::policy_file::SHIPPED.iter().map(|(name, _)| *name);
            let others = shipped.filter(|name| !OURS.contains(name));
            let number = OURS.iter().copied().chain(others).position(|one| one == name);
            Pen { colour: BRIGHT[number.unwrap_or(0) % BRIGHT.len()], width: 6 }
        }
        Contender::Reference(_) => {
            let number = REFERENCES.iter().position(|one| one.name == name);
            let width = if name == BASELINE { 4 } else { 3 };
            Pen { colour: DULL[number.unwrap_or(0) % DULL.len()], width }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser as _;
    use roxmltree::Document;

    use super::super::trace::{LISTS, ORDERS};
    use crate::args::{Arguments, Command};

    /// Two nodes of two GPUs, and three pods that arrive five times.
    const FILES: [(&str, &str, &str); 4] = [
        (
            LISTS,
            "openb_node_list_gpu_node.csv",
            "sn,cpu_milli,memory_mib,gpu,model\n\
             node-0,64000,262144,2,P100\n\
             node-1,64000,262144,2,P100\n",
        ),
        (
            LISTS,
            "openb_pod_list_tiny.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
             deletion_time,scheduled_time\n\
             pod-0,1000,1024,2,1000,,LS,Running,0,9,0\n\
             pod-1,1000,1024,1,500,,LS,Running,1,9,1\n\
             pod-2,1000,1024,0,0,,LS,Running,2,9,2\n",
        ),
        (ORDERS, "tiny.json", r#"{"42": {"order": [1, 2, 1, 0, 1], "node_priority": [1, 0]}}"#),
        (ORDERS, "reference.csv", "trace,policy,seed,alloc_at_100_pct,alloc_at_130_pct,source\n"),
    ];

    fn run(data: &std::path::Path, rest: &[&str]) -> anyhow::Result<String> {
        for (folder, file, text) in FILES {
            fs::create_dir_all(data.join(folder)).unwrap();
            fs::write(data.join(folder).join(file), text).unwrap();
        }
        let start = ["bench", "openb", "--trace", "tiny", "--seeds", "42"];
        let arguments = Arguments::parse_from(start.iter().chain(rest));
        let Command::Openb(asked) = arguments.command else { panic!("it is openb") };
        super::super::run(data, &asked).map(|(text, _)| text)
    }

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn option_plots_writes_every_figure_with_a_line_for_each_policy() {
        let data = tempfile::tempdir().unwrap();
        let plots = data.path().join("new/plots");
        let policies = ["random", "fgd", "default"];
        let rest = ["--policies", &policies.join(","), "--plots", plots.to_str().unwrap()];
        run(data.path(), &rest[..2]).unwrap();
        assert!(!plots.exists());
        let text = run(data.path(), &rest).unwrap();
        let wanted = [
            "allocation-detail.tiny.seeds42.svg",
            "allocation.tiny.seeds42.svg",
            "fragmentation-of-free.tiny.seeds42.svg",
            "fragmentation.tiny.seeds42.svg",
            "power.tiny.seeds42.svg",
            "saving.tiny.seeds42.svg",
        ];
        assert_eq!(names(&plots), wanted);
        for file in wanted {
            assert!(text.contains(file));
            let text = fs::read_to_string(plots.join(file)).unwrap();
            let document = Document::parse(&text).unwrap();
            // Axes, their marks and leaders are not as wide as a pen.
            let is_line = |node: &roxmltree::Node<'_, '_>| {
                let width = node.attribute("stroke-width").and_then(|width| width.parse().ok());
                node.has_tag_name("polyline") && width.is_some_and(|width: u32| width > 2)
            };
            assert_eq!(document.descendants().filter(is_line).count(), policies.len(), "{file}");
            let named = |name: &str| {
                document.descendants().any(|node| node.text().map(str::trim) == Some(name))
            };
            assert!(policies.iter().all(|name| named(name)), "{file}");
        }
        let first: Vec<_> = wanted.map(|file| fs::read(plots.join(file)).unwrap()).into();
        run(data.path(), &rest).unwrap();
        assert_eq!(wanted.map(|file| fs::read(plots.join(file)).unwrap()).as_slice(), first);
    }

    #[test]
    fn without_the_baseline_there_is_nothing_to_save_against() {
        let data = tempfile::tempdir().unwrap();
        let plots = data.path().join("plots");
        let rest = ["--policies", "best-fit", "--ties", "random"];
        run(data.path(), &[&rest[..], &["--plots", plots.to_str().unwrap()]].concat()).unwrap();
        let names = names(&plots);
        assert_eq!(names.len(), 5);
        assert!(names.contains(&"power.tiny.random_ties.seeds42.svg".to_owned()));
    }

    #[test]
    fn error_names_the_file_and_what_to_do() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("allocation.tiny.seeds42.svg");
        fs::create_dir(&file).unwrap();
        let rest = ["--policies", "fgd", "--plots", data.path().to_str().unwrap()];
        let error = run(data.path(), &rest).unwrap_err();
        let wanted = format!("write {}; free it or name another folder by --plots", file.display());
        assert_eq!(error.to_string(), wanted);

        let below = data.path().join(ORDERS).join("tiny.json/plots");
        let rest = ["--policies", "fgd", "--plots", below.to_str().unwrap()];
        let error = run(data.path(), &rest).unwrap_err().to_string();
        let wanted =
            format!("make the folder {} for plots; name another by --plots", below.display());
        assert_eq!(error, wanted);
    }
}
