//! The hostile vault: every shape of note, name and file that indexers like
//! this one were reported to fail on, built, indexed and compared with what a
//! person would expect. `tests/hostile` prints the whole table.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use postil_core::store::{Opened, Reader};
use serde_json::Value;

use crate::harness::World;

/// What is expected of the index.
enum Expect {
    /// Searching the word finds exactly these notes.
    Found(&'static str, &'static [&'static str]),
    /// The note has this title.
    Title(&'static str, &'static str),
    /// The note has these tags.
    Tags(&'static str, &'static [&'static str]),
    /// The note has these aliases.
    Aliases(&'static str, &'static [&'static str]),
    /// The note states this day of creation (`-`: none).
    Created(&'static str, &'static str),
    /// The note has chunks under these headings.
    Headings(&'static str, &'static [&'static str]),
    /// The note's links lead there; `-` is nowhere.
    Links(&'static str, &'static [&'static str]),
    /// Links of these notes lead to the note.
    Backlinks(&'static str, &'static [&'static str]),
    /// The file is reported as skipped for a reason that contains the text.
    Skipped(&'static str, &'static str),
    /// The file is not reported as skipped.
    NotSkipped(&'static str),
    /// A stored text of the note contains this.
    Has(&'static str, &'static str),
    /// No stored text of the note contains this.
    Lacks(&'static str, &'static str),
    /// The note has at least so many chunks, none longer than 4,100 characters.
    Chunks(&'static str, usize),
}

use Expect::{
    Aliases, Backlinks, Chunks, Created, Found, Has, Headings, Lacks, Links, NotSkipped, Skipped,
    Tags, Title,
};

struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    expected: &'static [Expect],
}

/// Notes that are plain text files with UTF-8 names.
const CASES: &[Case] = &[
    Case {
        name: "C18 banner instead of properties",
        files: &[("c/banner.md", "---\n**OSTROWSKI LEGAL**\n---\n\nzqbanner is in the body.\n")],
        expected: &[Found("zqbanner", &["c/banner.md"]), Found("OSTROWSKI", &["c/banner.md"])],
    },
    Case {
        name: "C19 second properties block below the first",
        files: &[(
            "c/twice.md",
            "---\ntitle: First\n---\n\n---\ndescription: zqtwice\ntags: [kept]\n---\n\nThe body of it.\n",
        )],
        expected: &[
            Title("c/twice.md", "First"),
            Tags("c/twice.md", &["kept"]),
            Lacks("c/twice.md", "description:"),
        ],
    },
    Case {
        name: "C20 values that are no YAML",
        files: &[
            ("c/path.md", "---\nkey: `C:\\agent`\ntitle: Agent path\n---\n\nzqpath body text.\n"),
            ("c/open.md", "---\ntitle: never closed\n\nzqopen is still found here.\n"),
            ("c/italic.md", "---\ntitle: *Italic*\n---\n\nzqitalic body text.\n"),
            ("c/wiki.md", "---\nup:\n  - [[wikilink]]suffix\ntags: [a]\n---\n\nzqwiki body.\n"),
            (
                "c/tab.md",
                "---\ntitle: Tabbed\n\ttags: [meant]\naliases:\n\t- zqtabalias\n---\n\nBody.\n",
            ),
        ],
        expected: &[
            Title("c/path.md", "Agent path"),
            Found("zqpath", &["c/path.md"]),
            Found("zqopen", &["c/open.md"]),
            Title("c/italic.md", "*Italic*"),
            Tags("c/wiki.md", &["a"]),
            Title("c/tab.md", "Tabbed"),
            Tags("c/tab.md", &["meant"]),
            Aliases("c/tab.md", &["zqtabalias"]),
        ],
    },
    Case {
        name: "C21 null, missing and bad values",
        files: &[
            ("c/null.md", "---\ntype: null\ntitle:\ntags: ~\ndate: someday\n---\n\nzqnull body.\n"),
            ("c/badlist.md", "---\ntags: [one, two\ntitle: Bad list\n---\n\nzqbadlist body.\n"),
            ("c/dup.md", "---\ntitle: One\ntitle: Two\ntags: a\ntags: b\n---\n\nzqdup body.\n"),
        ],
        expected: &[
            Found("zqnull", &["c/null.md"]),
            Title("c/null.md", "null"),
            Created("c/null.md", "-"),
            Title("c/badlist.md", "Bad list"),
            Title("c/dup.md", "One"),
            Tags("c/dup.md", &["a", "b"]),
        ],
    },
    Case {
        name: "C23 CRLF, and properties that end the file",
        files: &[
            (
                "c/crlf.md",
                "---\r\ntitle: Windows\r\ntags:\r\n- w\r\n---\r\n# H\r\n\r\nzqcrlf body.\r\n",
            ),
            ("c/eof.md", "---\ntitle: EOF\n---"),
        ],
        expected: &[
            Title("c/crlf.md", "Windows"),
            Tags("c/crlf.md", &["w"]),
            Found("zqcrlf", &["c/crlf.md"]),
            Lacks("c/crlf.md", "\r"),
            Title("c/eof.md", "EOF"),
        ],
    },
    Case {
        name: "C24 byte order marks",
        files: &[
            ("c/bom.md", "\u{FEFF}---\ntags: [bommed]\n---\n# After BOM\n\nzqbom body.\n"),
            ("c/bomh1.md", "\u{FEFF}# First heading\n\nzqbomh body text.\n"),
            (
                "c/bom.canvas",
                "\u{FEFF}{\"nodes\":[{\"type\":\"text\",\"text\":\"zqcanvas card\"}]}",
            ),
        ],
        expected: &[
            Tags("c/bom.md", &["bommed"]),
            Title("c/bom.md", "After BOM"),
            Title("c/bomh1.md", "First heading"),
            Found("zqcanvas", &["c/bom.canvas"]),
        ],
    },
    Case {
        name: "C25 properties are not prose",
        files: &[(
            "c/meta.md",
            "---\ntitle: Seen\npermalink: zqpermalink\n---\n\nOnly the body.\n",
        )],
        expected: &[Title("c/meta.md", "Seen"), Lacks("c/meta.md", "permalink")],
    },
    Case {
        name: "dates in any shape",
        files: &[
            ("c/d1.md", "---\ncreated: 2024-01-05T10:00:00+02:00\n---\nx text\n"),
            ("c/d2.md", "---\ndate: 5 de enero de 2024\n---\nx text\n"),
            ("c/d3.md", "---\ndate: January 5, 2024\n---\nx text\n"),
            ("c/d4.md", "---\ndate: 05.01.2024\n---\nx text\n"),
            ("c/d5.md", "---\ndate: 20240105\n---\nx text\n"),
            ("c/d6.md", "---\ndate: 2024-02-30\n---\nx text\n"),
        ],
        expected: &[
            Created("c/d1.md", "2024-01-05"),
            Created("c/d2.md", "2024-01-05"),
            Created("c/d3.md", "2024-01-05"),
            Created("c/d4.md", "2024-01-05"),
            Created("c/d5.md", "2024-01-05"),
            Created("c/d6.md", "-"),
        ],
    },
    Case {
        name: "tags in any shape",
        files: &[
            ("c/t1.md", "---\ntags: a, b/c\n---\nx text\n"),
            ("c/t2.md", "---\ntags: \"#a #b/c\"\n---\nx text\n"),
            ("c/t3.md", "---\ntags:\n  - a\n  - '#b/c'\n---\nx text\n"),
            ("c/t4.md", "x #a and #b/c, not `#code` or a#b or #123\n\n```\n#fence\n```\n"),
        ],
        expected: &[
            Tags("c/t1.md", &["a", "b/c"]),
            Tags("c/t2.md", &["a", "b/c"]),
            Tags("c/t3.md", &["a", "b/c"]),
            Tags("c/t4.md", &["a", "b/c"]),
        ],
    },
    Case {
        name: "D27 comments in fences are no headings",
        files: &[
            (
                "d/bash.md",
                "## Setup\n\nRun this first of all:\n\n```bash\n# zqcomment\nrun\n```\n\nThen zqafter it.\n",
            ),
            (
                "d/tilde.md",
                "## Setup\n\nA fence of tildes:\n\n~~~\n# no\n## no\n~~~\n\nzqtilde end.\n",
            ),
            (
                "d/four.md",
                "## Setup\n\nA fence in a fence:\n\n````md\n```\n# no\n```\n## no\n````\n\nzqfour end.\n",
            ),
        ],
        expected: &[
            Headings("d/bash.md", &["Setup"]),
            Headings("d/tilde.md", &["Setup"]),
            Headings("d/four.md", &["Setup"]),
            Found("zqcomment", &["d/bash.md"]),
        ],
    },
    Case {
        name: "D29 headings alone, setext, several H1",
        files: &[
            (
                "d/setext.md",
                "Title here\n==========\n\nIntro to it, long enough to stand.\n\nPart one\n--------\n\nzqsetext is in part one of the note.\n",
            ),
            (
                "d/h1s.md",
                "# One\n\nzqone text under the first heading.\n\n# Two\n\nzqtwo text under the second heading.\n",
            ),
            ("d/only.md", "# Zqonlyheading\n"),
            ("d/outline.md", "# Outline\n\n## Zqpartone\n\n## Zqparttwo\n"),
            ("d/blank.md", "  \n\n\t\n"),
            ("d/empty zqemptyname.md", ""),
        ],
        expected: &[
            Title("d/setext.md", "Title here"),
            Headings("d/setext.md", &["Title here", "Title here › Part one"]),
            Headings("d/h1s.md", &["One", "Two"]),
            Found("Zqonlyheading", &["d/only.md"]),
            Found("Zqparttwo", &["d/outline.md"]),
            Title("d/blank.md", "blank"),
            Found("zqemptyname", &["d/empty zqemptyname.md"]),
        ],
    },
    Case {
        name: "D31 a short intro and a short section are found",
        files: &[(
            "d/intro.md",
            "# T\n\nShort intro zqintro here.\n\n## A\n\nA section of some length follows.\n\n## B\n\nzqshort\n",
        )],
        expected: &[Found("zqintro", &["d/intro.md"]), Found("zqshort", &["d/intro.md"])],
    },
    Case {
        name: "D32 drawings, boards, canvases",
        files: &[
            (
                "d/Sketch.excalidraw.md",
                "---\nexcalidraw-plugin: parsed\n---\n==⚠  Switch to EXCALIDRAW VIEW ⚠==\n\n# Excalidraw Data\n## Text Elements\nzqdrawnword ^abc\n%%\n## Drawing\n```compressed-json\nzqcompressedjson\n```\n%%\n",
            ),
            (
                "d/Board zqboardname.md",
                "---\nkanban-plugin: board\n---\n\n## To do\n\n- [ ] zqkanbancard\n\n%% kanban:settings\n```\n{\"kanban-plugin\":\"board\"}\n```\n%%\n",
            ),
            (
                "d/Map.canvas",
                "{\"nodes\":[{\"id\":\"zqcanvasid\",\"type\":\"text\",\"text\":\"zqmapcard words\"},{\"type\":\"file\",\"file\":\"d/intro.md\"}],\"edges\":[]}",
            ),
            ("d/Broken zqbrokenname.canvas", "{\"nodes\": [oops"),
        ],
        expected: &[
            Title("d/Sketch.excalidraw.md", "Sketch"),
            Found("zqdrawnword", &["d/Sketch.excalidraw.md"]),
            Found("zqcompressedjson", &[]),
            Found("zqboardname", &["d/Board zqboardname.md"]),
            Lacks("d/Board zqboardname.md", "kanban:settings"),
            Found("zqmapcard", &["d/Map.canvas"]),
            Found("zqcanvasid", &[]),
            Links("d/Map.canvas", &["d/intro.md"]),
            Found("zqbrokenname", &["d/Broken zqbrokenname.canvas"]),
        ],
    },
    Case {
        name: "templates",
        files: &[(
            "templates/zqtemplate.md",
            "---\ntitle: <% tp.file.title %>\ncreated: {{date}}\ntags: []\n---\n# {{title}}\n\nFill in what happened today.\n",
        )],
        expected: &[
            Title("templates/zqtemplate.md", "zqtemplate"),
            Created("templates/zqtemplate.md", "-"),
        ],
    },
    Case {
        name: "a list of related links is no prose",
        files: &[(
            "d/related.md",
            "## Topic\n\nzqtopic prose of the note stands here.\n\n## Related\n\n- [[intro]] zqrelatedword\n",
        )],
        expected: &[
            Found("zqtopic", &["d/related.md"]),
            Found("zqrelatedword", &[]),
            Links("d/related.md", &["d/intro.md"]),
        ],
    },
    Case {
        name: "E33 exact path, own folder, shortest path",
        files: &[
            ("e/zzzz/Tie.md", "tie text zzzz\n"),
            ("e/a/b/Tie.md", "tie text a b\n"),
            ("e/src.md", "[[Tie]] [[e/zzzz/Tie]]\n"),
            ("e/zzzz/src.md", "[[Tie]]\n"),
        ],
        expected: &[
            Links("e/src.md", &["e/a/b/Tie.md", "e/zzzz/Tie.md"]),
            Links("e/zzzz/src.md", &["e/zzzz/Tie.md"]),
            Backlinks("e/zzzz/Tie.md", &["e/src.md", "e/zzzz/src.md"]),
        ],
    },
    Case {
        name: "E34 case, endings, brackets, self, URLs",
        files: &[
            ("e/Log.md", "log text\n"),
            ("e/Ext.md", "ext text\n"),
            ("e/Sq]uare.md", "square text\n"),
            ("e/shapes.md", "[[log]] [[LOG]] [[Ext.MD]] [[Sq]uare]] [[#H]] [[https://x.y]]\n"),
        ],
        expected: &[Links(
            "e/shapes.md",
            &["e/Log.md", "e/Log.md", "e/Ext.md", "e/Sq]uare.md", "e/shapes.md", "-"],
        )],
    },
    Case {
        name: "E35 an alias is found but resolves no link",
        files: &[
            ("e/Real name.md", "---\naliases: [Zqalias]\n---\n\nThe text of the real note.\n"),
            ("e/by alias.md", "[[Zqalias]] and [[Real name|Zqother]] are written here.\n"),
        ],
        expected: &[
            Links("e/by alias.md", &["-", "e/Real name.md"]),
            Aliases("e/Real name.md", &["Zqalias"]),
        ],
    },
    Case {
        name: "E37 tables, embeds, attachments, Markdown links",
        files: &[
            ("e/Figure note.md", "figure text\n"),
            (
                "e/links.md",
                "| [[Log\\|x]] | ![[img.png]] |\n\n[a](Figure%20note.md) [b](<Figure note.md>) [c](Log.md#Part) ![[Ext#^b1]] [d](https://x.y/Log.md)\n",
            ),
            ("e/deep/er/src.md", "[u](../../Log.md) and [[./none]] and [[../../Ext]]\n"),
        ],
        expected: &[
            Links(
                "e/links.md",
                &["e/Log.md", "-", "e/Figure note.md", "e/Figure note.md", "e/Log.md", "e/Ext.md"],
            ),
            Links("e/deep/er/src.md", &["e/Log.md", "-", "e/Ext.md"]),
        ],
    },
    Case {
        name: "E38 a decomposed file name and a composed link",
        files: &[
            ("e/cafe\u{301} zqnfd.md", "nfd text\n"),
            ("e/to nfd.md", "[[caf\u{e9} zqnfd]]\n"),
        ],
        expected: &[Links("e/to nfd.md", &["e/cafe\u{301} zqnfd.md"])],
    },
    Case {
        name: "E39 a broken link costs nothing",
        files: &[("e/sub/broken.md", "[[nowhere at all]] zqbrokenlink stands here.\n")],
        expected: &[Found("zqbrokenlink", &["e/sub/broken.md"]), Links("e/sub/broken.md", &["-"])],
    },
    Case {
        name: "F43-F51 names",
        files: &[
            ("f/🐘.md", "zqelephant text\n"),
            ("f/README.md", "zqupper text\n"),
            ("f/readme.md", "zqlower text\n"),
            ("f/x/patterns.md", "zqpatternsx text\n"),
            ("f/y/patterns.md", "zqpatternsy text\n"),
            ("f/build/b.md", "zqbuild text\n"),
            ("f/dist/b.md", "zqdist text\n"),
            ("f/vendor/b.md", "zqvendor text\n"),
            ("f/node_modules/b.md", "zqmodules text\n"),
            ("f/.hidden/b.md", "zqhidden text\n"),
            ("f/new\nline.md", "zqnewline text\n"),
            ("f/caf\u{e9}.md", "zqcomposed text\n"),
            ("f/cafe\u{301}.md", "zqdecomposed text\n"),
            ("f/upper.MD", "zqupperending text\n"),
            ("f/' \"$(touch x)`;&|.md", "zqshell text\n"),
            (".obsidian/app.md", "zqobsidian text\n"),
            ("f/.trash/t.md", "zqtrash text\n"),
            ("f/.git/t.md", "zqgit text\n"),
        ],
        expected: &[
            Found("zqelephant", &["f/🐘.md"]),
            Found("zqupper", &["f/README.md"]),
            Found("zqlower", &["f/readme.md"]),
            Found("zqpatternsx", &["f/x/patterns.md"]),
            Found("zqpatternsy", &["f/y/patterns.md"]),
            Found("zqbuild", &["f/build/b.md"]),
            Found("zqdist", &["f/dist/b.md"]),
            Found("zqvendor", &["f/vendor/b.md"]),
            Found("zqmodules", &["f/node_modules/b.md"]),
            Found("zqhidden", &["f/.hidden/b.md"]),
            Found("zqnewline", &["f/new\nline.md"]),
            Found("zqcomposed", &["f/caf\u{e9}.md"]),
            Found("zqdecomposed", &["f/cafe\u{301}.md"]),
            Found("zqupperending", &["f/upper.MD"]),
            Found("zqshell", &["f/' \"$(touch x)`;&|.md"]),
            Found("zqobsidian", &[]),
            Found("zqtrash", &[]),
            Found("zqgit", &[]),
        ],
    },
    Case {
        name: ".indexignore",
        files: &[
            (".indexignore", "# rules\n/private/\ndrafts/*\n!drafts/keep.md\n*.tmp.md\n"),
            ("private/a.md", "zqprivate text\n"),
            ("f/private/a.md", "zqnotprivate text\n"),
            ("drafts/a.md", "zqdraft text\n"),
            ("drafts/keep.md", "zqkeep text\n"),
            ("f/a.tmp.md", "zqtmp text\n"),
            ("f/nested/.indexignore", "secret.md\n"),
            ("f/nested/secret.md", "zqnested text\n"),
        ],
        expected: &[
            Found("zqprivate", &[]),
            Found("zqnotprivate", &["f/private/a.md"]),
            Found("zqdraft", &[]),
            Found("zqkeep", &["drafts/keep.md"]),
            Found("zqtmp", &[]),
            Found("zqnested", &[]),
        ],
    },
];

/// What files that `CASES` cannot hold are expected to become.
const SPECIAL: &[(&str, &[Expect])] = &[
    (
        "F41 Latin-1, UTF-16, NUL",
        &[
            Found("zqlatin", &["g/latin1.md"]),
            Has("g/latin1.md", "café"),
            Has("g/utf16le.md", "café"),
            Has("g/utf16be.md", "café"),
            Has("g/utf16le bare.md", "café"),
            Found("zqutfle", &["g/utf16le.md"]),
            Found("zqutfbe", &["g/utf16be.md"]),
            Found("zqutfbare", &["g/utf16le bare.md"]),
            Found("zqnul", &["g/nul.md"]),
            Found("zqaftrnul", &["g/nul.md"]),
        ],
    ),
    (
        "F41 binary under a note's name",
        &[Skipped("g/binary.md", "binary"), Skipped("g/pdf.md", "binary")],
    ),
    (
        "F46 links out of the vault, loops, twins",
        &[
            Skipped("g/escape.md", "out of the vault"),
            Skipped("g/escape dir", "out of the vault"),
            Skipped("g/loop", "folder above"),
            Skipped("g/itself.md", "folder above"),
            Skipped("g/twin.md", "symbolic link to d/intro.md"),
            Skipped("g/dangling.md", "to nothing"),
            Found("zqoutside", &[]),
            Found("zqintro", &["d/intro.md"]),
        ],
    ),
    (
        "F47 unreadable, not downloaded",
        &[
            Skipped("g/unreadable.md", "permission denied"),
            Skipped("g/locked", "permission denied"),
            Skipped("g/cloud.md", "not downloaded"),
        ],
    ),
    ("FIFO, socket", &[Skipped("g/fifo.md", "FIFO"), Skipped("g/socket.md", "socket")]),
    (
        "names that are no UTF-8",
        &[
            Found("zqrawname", &["g/\\xFF\\xFE raw.md"]),
            Found("zqliteral", &["g/\\x5CxFF\\x5CxFE raw.md"]),
        ],
    ),
    ("50 MB note", &[Skipped("g/large.md", "limit")]),
    (
        "700 KB, 300 H2",
        &[Chunks("g/three hundred.md", 300), Found("zqlastsection", &["g/three hundred.md"])],
    ),
    (
        "a line of 65,000 characters",
        &[Chunks("g/long line.md", 33), Found("zqlineend", &["g/long line.md"])],
    ),
    ("macOS resource fork", &[Skipped("g/._fork.md", "resource fork"), NotSkipped("g/fork.md")]),
];

#[test]
fn the_hostile_vault_is_indexed_as_a_person_expects() {
    let world = World::new();
    for case in CASES {
        for (path, text) in case.files {
            world.note(path, text);
        }
    }
    build_special(&world);
    let before = listing(&world.vault());
    let is_root = fs::read(world.vault().join("g/unreadable.md")).is_ok();
    // Unreadable notes, among others, make it 1.
    let report = world.run("index", &["--json", "-v"], "").code(1).json();
    let mut table = Table::new(&world, &report);
    for case in CASES {
        table.check(case.name, case.expected);
    }
    for (name, expected) in SPECIAL {
        if is_root && name.starts_with("F47") {
            // Nothing is unreadable for root: the cloud placeholder remains.
            table.check(name, &[Skipped("g/cloud.md", "not downloaded")]);
            continue;
        }
        table.check(name, expected);
    }
    assert_eq!(before, listing(&world.vault()), "the vault was written to");
    table.end();
    fs::set_permissions(world.vault().join("g/locked"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn build_special(world: &World) {
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
}

/// Every path below `folder` with size and time of change.
fn listing(folder: &Path) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
            }
            found.push((entry.path(), meta.len(), meta.modified().unwrap()));
        }
    }
    found.sort();
    found
}

/// Compares, prints each line, and fails at the end.
struct Table<'a> {
    world: &'a World,
    report: &'a Value,
    reader: Box<Reader>,
    n: usize,
    wrong: Vec<String>,
}

impl<'a> Table<'a> {
    fn new(world: &'a World, report: &'a Value) -> Self {
        let Opened::Ready(reader) = Reader::open(&world.index_file()).unwrap() else {
            panic!("no index");
        };
        Self { world, report, reader, n: 0, wrong: Vec::new() }
    }

    fn check(&mut self, case: &str, expected: &[Expect]) {
        for expected in expected {
            let (what, wanted, found) = self.compare(expected);
            let is_right = wanted == found;
            let mark = if is_right { "ok   " } else { "WRONG" };
            let line = format!("{mark} {case}: {what}: expected {wanted:?}, found {found:?}");
            println!("{line}");
            self.n += 1;
            if !is_right {
                self.wrong.push(line);
            }
        }
    }

    fn end(self) {
        println!("{} expectations, {} wrong", self.n, self.wrong.len());
        assert!(self.wrong.is_empty(), "\n{}", self.wrong.join("\n"));
    }

    fn compare(&self, expected: &Expect) -> (String, Vec<String>, Vec<String>) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match expected {
            Found(word, notes) => {
                let mut wanted: Vec<String> = owned(notes);
                wanted.sort();
                (format!("search {word}"), wanted, self.search(word))
            }
            Title(path, title) => (
                format!("title of {path}"),
                owned(&[title]),
                self.of(path, |note| vec![note.title]),
            ),
            Tags(path, tags) => {
                (format!("tags of {path}"), owned(tags), self.of(path, |note| note.tags))
            }
            Aliases(path, aliases) => {
                (format!("aliases of {path}"), owned(aliases), self.of(path, |note| note.aliases))
            }
            Created(path, day) => {
                let found = self.of(path, |note| vec![note.created.unwrap_or("-".into())]);
                (format!("day of {path}"), owned(&[day]), found)
            }
            Headings(path, headings) => {
                let mut found: Vec<String> =
                    self.chunks(path).into_iter().map(|chunk| chunk.heading).collect();
                found.dedup();
                (format!("headings of {path}"), owned(headings), found)
            }
            Links(path, targets) => (format!("links of {path}"), owned(targets), self.links(path)),
            Backlinks(path, sources) => {
                (format!("links to {path}"), owned(sources), self.backlinks(path))
            }
            Skipped(path, reason) => {
                let found = self
                    .skipped(path)
                    .map(|found| if found.contains(reason) { (*reason).to_owned() } else { found });
                (format!("{path} skipped"), owned(&[reason]), found.into_iter().collect())
            }
            NotSkipped(path) => {
                (format!("{path} skipped"), Vec::new(), self.skipped(path).into_iter().collect())
            }
            Has(path, text) => {
                let has = self.chunks(path).iter().any(|chunk| chunk.text.contains(text));
                let found = if has { vec![(*text).to_owned()] } else { Vec::new() };
                (format!("{text:?} in {path}"), owned(&[text]), found)
            }
            Lacks(path, text) => {
                let has = self.chunks(path).iter().any(|chunk| chunk.text.contains(text));
                let found = if has { vec![(*text).to_owned()] } else { Vec::new() };
                (format!("{text:?} in {path}"), Vec::new(), found)
            }
            Chunks(path, least) => {
                let chunks = self.chunks(path);
                let longest = chunks.iter().map(|chunk| chunk.text.chars().count()).max();
                let is_right = chunks.len() >= *least && longest.is_some_and(|n| n <= 4_100);
                let found = format!("{} chunks, longest {longest:?}", chunks.len());
                let wanted = format!("at least {least} chunks of at most 4100 characters");
                let found = if is_right { wanted.clone() } else { found };
                (format!("chunks of {path}"), vec![wanted], vec![found])
            }
        }
    }

    /// The notes that a search for the word finds, sorted.
    fn search(&self, word: &str) -> Vec<String> {
        let run = self.world.run("search", &["--json", "--limit", "20", word], "");
        let mut paths: Vec<String> = match run.json() {
            Value::Array(hits) => {
                hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
            }
            other => panic!("no array: {other}"),
        };
        paths.sort();
        paths.dedup();
        paths
    }

    fn note(&self, path: &str) -> Option<postil_core::store::NoteRow> {
        self.reader.note_at(path).unwrap()
    }

    fn of(
        &self,
        path: &str,
        field: impl FnOnce(postil_core::model::NoteMeta) -> Vec<String>,
    ) -> Vec<String> {
        self.note(path).map_or_else(|| vec!["(no such note)".into()], |note| field(note.meta))
    }

    fn chunks(&self, path: &str) -> Vec<postil_core::store::ChunkRow> {
        let Some(note) = self.note(path) else { return Vec::new() };
        let ids = note.first_chunk..note.first_chunk + i64::from(note.n_chunks);
        ids.map(|id| self.reader.chunk(id).unwrap().unwrap()).collect()
    }

    fn path_of(&self, id: i64) -> String {
        self.reader.note(id).unwrap().unwrap().path
    }

    fn links(&self, path: &str) -> Vec<String> {
        let Some(note) = self.note(path) else { return vec!["(no such note)".into()] };
        let links = self.reader.links_from(note.id).unwrap();
        links
            .iter()
            .map(|link| link.to_note.map_or_else(|| "-".to_owned(), |id| self.path_of(id)))
            .collect()
    }

    fn backlinks(&self, path: &str) -> Vec<String> {
        let Some(note) = self.note(path) else { return vec!["(no such note)".into()] };
        let links = self.reader.links_to(note.id).unwrap();
        let mut sources: Vec<String> =
            links.iter().map(|link| self.path_of(link.note_id)).collect();
        sources.sort();
        sources.dedup();
        sources
    }

    fn skipped(&self, path: &str) -> Option<String> {
        let skipped = self.report["skipped"].as_array().unwrap();
        let item = skipped.iter().find(|item| item["path"] == path)?;
        Some(item["reason"].as_str().unwrap().to_owned())
    }
}
