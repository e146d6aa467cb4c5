//! Where the time and the memory of a run went.

use postil_core::ingest::Report;

/// Most memory this process ever had in use, in MB, as the system counts it;
/// `None` where it does not say.
pub(crate) fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// One line a stage, in the order they come, then what runs beside the writer.
pub(crate) fn table(report: &Report) -> String {
    let whole = report.total_ms.max(1);
    let row = |name: &str, ms: u64| {
        format!("  {name:<10}{:>9.3} s {:>3} %\n", ms as f64 / 1e3, (ms * 100 + whole / 2) / whole)
    };
    let stages = [
        ("walk", report.walk_ms),
        ("open", report.open_ms),
        ("write", report.write_ms),
        ("links", report.link_ms),
        ("finish", report.finish_ms),
    ];
    let named: u64 = stages.iter().map(|(_, ms)| ms).sum();
    let mut text = format!("where the time went, of {:.3} s:\n", report.total_ms as f64 / 1e3);
    for (name, ms) in stages {
        text.push_str(&row(name, ms));
    }
    text.push_str(&row("other", report.total_ms.saturating_sub(named)));
    let threads = match report.n_threads {
        0 => "one after the other".to_owned(),
        1 => "in 1 thread beside the writer".to_owned(),
        n => format!("in {n} threads beside the writer, summed"),
    };
    text.push_str(&format!("of `write`, {threads}:\n"));
    for (name, ms) in report.stages_ms {
        text.push_str(&row(name, ms));
    }
    text.push_str(&row("put", report.put_ms));
    if report.bytes > 0 && report.write_ms > 0 {
        let (mb, seconds) = (report.bytes as f64 / 1e6, report.write_ms as f64 / 1e3);
        text.push_str(&format!(
            "{mb:.1} MB of notes, {:.1} MB/s, {:.0} chunks/s\n",
            mb / seconds,
            report.n_chunks as f64 / seconds
        ));
    }
    if let Some(mb) = peak_mb() {
        text.push_str(&format!("{mb:.0} MB of memory at most\n"));
    }
    text
}
