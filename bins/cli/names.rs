//! What people call a note.

use postil_core::text::fold;

/// Says whether a person may call a note `name`: by its path, whole or its end,
/// with or without the ending, or by its title.
pub fn is_called(path: &str, title: &str, name: &str) -> bool {
    let (path, title, name) = (fold(path), fold(title), fold(name.trim_start_matches("./")));
    let stem = |path: &str| path.strip_suffix(".md").unwrap_or(path).to_owned();
    let (path, short) = (stem(&path), stem(&name));
    path == short || title == name || path.ends_with(&format!("/{short}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_answer_to_path_stem_and_title() {
        for name in
            ["work/Rust.md", "work/rust", "rust", "RUST.md", "Rust at Work", "./work/rust.md"]
        {
            assert!(is_called("04/work/Rust.md", "Rust at work", name), "{name}");
        }
        for name in ["ust", "04", "work", "rust at"] {
            assert!(!is_called("04/work/Rust.md", "Rust at work", name), "{name}");
        }
    }
}
