//! The hostile notes and what is expected of each. `C18` and the like number
//! the reported faults they stand for.

/// What is expected of the index.
pub(super) enum Expect {
    /// Searching the word finds exactly these notes.
    Found(&'static str, &'static [&'static str]),
    /// The note has this title.
    Title(&'static str, &'static str),
    /// The note says this of itself.
    Description(&'static str, &'static str),
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
    /// The note has at most so many chunks.
    AtMost(&'static str, usize),
    /// The report tells what is odd in the note, in words that contain this.
    Odd(&'static str, &'static str),
    /// Nothing is told of the note.
    NotOdd(&'static str),
    /// Whether no link leads to the note.
    Orphan(&'static str, bool),
    /// The links of the note that lead to nothing.
    Missing(&'static str, &'static [&'static str]),
}

use Expect::{
    Aliases, AtMost, Backlinks, Chunks, Created, Description, Found, Has, Headings, Lacks, Links,
    Missing, NotOdd, NotSkipped, Odd, Orphan, Skipped, Tags, Title,
};

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) expected: &'static [Expect],
}

/// Notes that are plain text files with UTF-8 names.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "C18 banner instead of properties",
        files: &[("c/banner.md", "---\n**OSTROWSKI LEGAL**\n---\n\nzqbanner is in the body.\n")],
        expected: &[
            Found("zqbanner", &["c/banner.md"]),
            Found("OSTROWSKI", &["c/banner.md"]),
            NotOdd("c/banner.md"),
        ],
    },
    Case {
        name: "C19 second properties block below the first",
        files: &[(
            "c/twice.md",
            "---\ntitle: First\n---\n\n---\ndescription: zqtwice\ntags: [kept]\n---\n\nThe body of it.\n",
        )],
        expected: &[
            Title("c/twice.md", "First"),
            Description("c/twice.md", "zqtwice"),
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
            Odd("c/open.md", "line 1"),
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
            Odd("c/null.md", "no single day"),
            Odd("c/badlist.md", "line 2"),
            Odd("c/dup.md", "twice"),
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
            (
                "c/bom.md",
                "\u{FEFF}---\ntags: [bommed]\naliases: [zqbomalias]\n---\n# After BOM\n\nzqbom body.\n",
            ),
            ("c/bomh1.md", "\u{FEFF}# First heading\n\nzqbomh body text.\n"),
            (
                "c/bom.canvas",
                "\u{FEFF}{\"nodes\":[{\"type\":\"text\",\"text\":\"zqcanvas card\"}]}",
            ),
        ],
        expected: &[
            Tags("c/bom.md", &["bommed"]),
            Aliases("c/bom.md", &["zqbomalias"]),
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
        name: "properties of other shapes",
        files: &[
            ("c/empty.md", "---\n---\nzqemptyprops body\n"),
            ("c/dots.md", "---\ntitle: Dotted\n...\nzqdots body\n"),
            ("c/toml.md", "+++\ntitle = \"From TOML\"\ntags = [\"t\"]\n+++\nzqtoml body\n"),
            (
                "c/block.md",
                "---\ndescription: >\n  zqfolded\n  text\nsource: |\n  https://x.y\n---\nb\n",
            ),
            (
                "c/nested.md",
                "---\nmeta:\n  title: inner\n  tags: [inner]\ntitle: Outer\n---\nzqinnerprops body\n",
            ),
            ("c/colon.md", "---\ntitle: \"A: b\"\naliases:\n  - \"x: y\"\n---\nzqcolon body\n"),
            ("c/emoji.md", "---\ntitle: 🐘 café\ntags: [año/2024]\n---\nzqemoji body\n"),
            ("c/later.md", "zqlater text first\n\n---\ntitle: not a property\n---\n\nmore text\n"),
            ("c/rule.md", "---\n\nzqrule stands between rules.\n\n---\n\nAnd more.\n"),
        ],
        expected: &[
            Found("zqemptyprops", &["c/empty.md"]),
            Title("c/dots.md", "Dotted"),
            Title("c/toml.md", "From TOML"),
            Tags("c/toml.md", &["t"]),
            Description("c/block.md", "zqfolded text"),
            Title("c/nested.md", "Outer"),
            Tags("c/nested.md", &[]),
            Title("c/colon.md", "A: b"),
            Aliases("c/colon.md", &["x: y"]),
            Title("c/emoji.md", "🐘 café"),
            Tags("c/emoji.md", &["año/2024"]),
            Title("c/later.md", "later"),
            Found("zqrule", &["c/rule.md"]),
        ],
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
        name: "D27 fences nobody closes, in lists, in quotes",
        files: &[
            (
                "d/open fence.md",
                "## Setup\n\nIt runs to the end:\n\n```sh\n# no\n## no\nzqopenfence\n",
            ),
            (
                "d/list fence.md",
                "## Setup\n\n- an item with a fence:\n\n  ```sh\n  # no\n## no\n  ```\n\nzqlistfence end.\n",
            ),
            (
                "d/inline.md",
                "## Setup\n\n```not a `fence` but a code span of three backticks```\n\n## Second part\n\nzqinline stands in the second part.\n",
            ),
            (
                "d/quote.md",
                "## Setup\n\n> # quoted heading\n> zqquote in a long enough quote\n\n    # indented code\n",
            ),
        ],
        expected: &[
            Headings("d/open fence.md", &["Setup"]),
            Found("zqopenfence", &["d/open fence.md"]),
            Headings("d/list fence.md", &["Setup"]),
            Headings("d/inline.md", &["Setup", "Second part"]),
            Headings("d/quote.md", &["Setup"]),
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
            Found("Zqalias", &["e/Real name.md", "e/by alias.md"]),
            Missing("e/by alias.md", &["Zqalias"]),
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
            // A picture is no missing note.
            Missing("e/links.md", &[]),
            Missing("e/deep/er/src.md", &["./none"]),
        ],
    },
    Case {
        name: "E38 a decomposed file name and a composed link",
        files: &[
            ("e/cafe\u{301} zqnfd.md", "nfd text\n"),
            ("e/to nfd.md", "[[caf\u{e9} zqnfd]]\n"),
        ],
        expected: &[
            Links("e/to nfd.md", &["e/cafe\u{301} zqnfd.md"]),
            Missing("e/to nfd.md", &[]),
            Orphan("e/cafe\u{301} zqnfd.md", false),
            Orphan("e/to nfd.md", true),
        ],
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
pub(super) const SPECIAL: &[(&str, &[Expect])] = &[
    (
        "F41 Latin-1, UTF-16, NUL",
        &[
            Found("zqlatin", &["g/latin1.md"]),
            Odd("g/latin1.md", "Windows-1252"),
            Odd("g/nul.md", "NUL"),
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
    (
        "C25 properties longer than a chunk",
        &[
            Title("g/long props.md", "Long props"),
            Lacks("g/long props.md", "zqkeyname"),
            AtMost("g/long props.md", 1),
            Found("zqlongbody", &["g/long props.md"]),
        ],
    ),
    (
        "D32 a drawing of 3 MB",
        &[AtMost("g/Big.excalidraw.md", 1), Found("zqbigdrawing", &["g/Big.excalidraw.md"])],
    ),
    (
        "F48 a thousand links, half of them broken",
        &[
            Found("zqafterlinks", &["h/zz after.md"]),
            Found("zqlinkednote", &["h/note.md"]),
            Skipped("h/l0.md", "symbolic link to h/note.md"),
            Skipped("h/l999.md", "to nothing"),
        ],
    ),
    ("macOS resource fork", &[Skipped("g/._fork.md", "resource fork"), NotSkipped("g/fork.md")]),
];
