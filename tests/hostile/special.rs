//! Files that no table of texts can hold: encodings, links, pipes, sizes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::harness::World;

pub(super) fn build(world: &World) {
    let vault = world.vault();
    world.note("g/latin1.md", b"# N\n\ncaf\xe9 zqlatin text\n");
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    };
    world.note("g/utf16le.md", utf16("\u{FEFF}# N\r\n\r\ncafé zqutfle text\r\n", false));
    world.note("g/utf16be.md", utf16("\u{FEFF}# N\n\ncafé zqutfbe text\n", true));
    world.note("g/utf16le bare.md", utf16("# N\n\ncafé zqutfbare text\n", false));
    world.note("g/nul.md", b"# N\n\nzqnul\0zqaftrnul and a longer text around the NUL\n");
    world.note("g/binary.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06");
    let mut pdf = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    pdf.extend((0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8));
    world.note("g/pdf.md", pdf);
    fs::write(world.home().join("outside.md"), "zqoutside text\n").unwrap();
    fs::create_dir(world.home().join("outside")).unwrap();
    fs::write(world.home().join("outside/in.md"), "zqoutside text\n").unwrap();
    let link = |target: &str, name: &str| symlink(target, vault.join(name)).unwrap();
    link("../../outside.md", "g/escape.md");
    link("../../outside", "g/escape dir");
    link("..", "g/loop");
    link("itself.md", "g/itself.md");
    link("../d/intro.md", "g/twin.md");
    link("gone.md", "g/dangling.md");
    let unreadable = world.note("g/unreadable.md", "zqunreadable text\n");
    fs::set_permissions(unreadable, fs::Permissions::from_mode(0o000)).unwrap();
    world.note("g/locked/in.md", "zqlocked text\n");
    fs::set_permissions(vault.join("g/locked"), fs::Permissions::from_mode(0o000)).unwrap();
    world.note("g/.cloud.md.icloud", "placeholder");
    let made = std::process::Command::new("mkfifo").arg(vault.join("g/fifo.md")).status().unwrap();
    assert!(made.success());
    drop(std::os::unix::net::UnixListener::bind(vault.join("g/socket.md")).unwrap());
    let raw = OsString::from_vec(b"\xFF\xFE raw.md".to_vec());
    fs::write(vault.join("g").join(raw), "zqrawname text\n").unwrap();
    world.note("g/\\xFF\\xFE raw.md", "zqliteral text\n");
    fs::File::create(vault.join("g/large.md")).unwrap().set_len(50 << 20).unwrap();
    let section = |i: usize| format!("## Part {i}\n\n{}\n\n", "words of the part ".repeat(130));
    let mut long: String = (0..300).map(section).collect();
    long.push_str("zqlastsection ends it\n");
    world.note("g/three hundred.md", long);
    world.note("g/long line.md", format!("{} zqlineend\n", "word ".repeat(13_000).trim_end()));
    world.note("g/._fork.md", b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ");
    world.note("g/fork.md", "zqfork text\n");
    let props: String = (0..400).map(|i| format!("zqkeyname{i}: value {i} of it\n")).collect();
    world.note("g/long props.md", format!("---\ntitle: Long props\n{props}---\n\nzqlongbody\n"));
    let json = "N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2K".repeat(50_000);
    let drawing = format!(
        "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n## Text Elements\nzqbigdrawing ^a1\n%%\n\
         ## Drawing\n```compressed-json\n{json}\n```\n%%\n"
    );
    world.note("g/Big.excalidraw.md", drawing);
    world.note("h/note.md", "zqlinkednote text\n");
    for i in 0..1000 {
        link(if i % 2 == 0 { "note.md" } else { "gone.md" }, &format!("h/l{i}.md"));
    }
    world.note("h/zz after.md", "zqafterlinks text\n");
    for i in 0..400 {
        world.note(&format!("many/n{i}.md"), "zqstarve zqstarve zqstarve of the many\n");
    }
    world.note("few/one.md", format!("{} zqstarve once\n", "other words ".repeat(100)));
}

/// A device under a note's name; false where only root may make one.
pub(super) fn build_device(world: &World) -> bool {
    let mut make = std::process::Command::new("mknod");
    make.arg(world.vault().join("g/device.md")).args(["c", "1", "3"]);
    make.output().is_ok_and(|made| made.status.success())
}
