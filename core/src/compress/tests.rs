//! Kinds of faults that users reported against tools like this one, each as a
//! small output of that kind: the facts must be in what the model sees.

use super::*;

/// What the model sees: the extract, or the output itself.
fn seen(command: &str, exit_code: i32, raw: &[u8]) -> Vec<u8> {
    let output = Output {
        command: command.as_bytes(),
        exit_code,
        raw,
        shown_by_client: shown_by_client(raw.len(), exit_code),
        max_bytes: 9_000,
    };
    match compress(&output) {
        Some(extract) => extract.seal("full text", b"/s/outputs/1.txt"),
        None => raw.to_vec(),
    }
}

#[track_caller]
fn keeps(command: &str, exit_code: i32, raw: impl AsRef<[u8]>, facts: &[&str]) -> String {
    let text = String::from_utf8_lossy(&seen(command, exit_code, raw.as_ref())).into_owned();
    for fact in facts {
        assert!(text.contains(fact), "{fact:?} is not in\n{text}");
    }
    text
}

/// As `keeps`, and much smaller than the output.
#[track_caller]
fn shortens(command: &str, exit_code: i32, raw: impl AsRef<[u8]>, facts: &[&str]) -> String {
    let text = keeps(command, exit_code, raw.as_ref(), facts);
    assert!(
        text.len() * 2 < raw.as_ref().len(),
        "{} of {} bytes\n{text}",
        text.len(),
        raw.as_ref().len()
    );
    text
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(|i| line(i) + "\n").collect()
}

fn passed(n: usize) -> String {
    lines(n, |i| {
        format!("tests/test_caja.py::test_ok[{i}] PASSED                    [ {}%]", i * 100 / n)
    })
}

#[test]
fn an_error_while_collecting_is_no_empty_run() {
    let noise = lines(90, |i| format!("tests/test_{i}.py::test_x PASSED   [ {i}%]"));
    let raw = format!(
        "{noise}==== ERRORS ====\n____ ERROR collecting tests/test_b.py ____\nE   ModuleNotFoundError: No module named 'nope'\n==== 1 error in 0.10s ====\n"
    );
    shortens(
        "pytest",
        2,
        raw,
        &[
            "ERROR collecting tests/test_b.py",
            "No module named 'nope'",
            "1 error in 0.10s",
            "exit 2",
        ],
    );
}

#[test]
fn setup_errors_are_kept_beside_failures() {
    let raw = format!(
        "{}tests/test_bd.py::test_guardar ERROR   [99%]\n____ ERROR at setup of test_guardar ____\nE   ConnectionRefusedError: no postgres\ntests/conftest.py:15: ConnectionRefusedError\n=== 3 failed, 229 passed, 1 error in 5s ===\n",
        passed(120)
    );
    shortens(
        "pytest -v",
        1,
        raw,
        &[
            "ERROR at setup of test_guardar",
            "no postgres",
            "tests/conftest.py:15",
            "3 failed, 229 passed, 1 error",
        ],
    );
}

#[test]
fn colours_hide_nothing() {
    let raw = format!(
        "{}\x1b[31mFAILED\x1b[0m tests/test_a.py::\x1b[1mtest_media\x1b[0m - assert 1 == 2\n\x1b[31m=== \x1b[1m1 failed\x1b[0m, 90 passed ===\x1b[0m\n",
        lines(90, |i| format!("tests/test_a.py::test_{i} \x1b[32mPASSED\x1b[0m"))
    );
    shortens(
        "pytest --color=yes",
        1,
        raw,
        &["FAILED tests/test_a.py::test_media", "1 failed, 90 passed"],
    );
    let tsc = lines(40, |i| {
        format!(
            "src/a{i}.ts:3:7 - \x1b[91merror\x1b[0m TS2322: Type 'string' is not assignable to 'number'.\n\n3 const x: number = 's';\n        ~"
        )
    });
    keeps(
        "tsc --pretty",
        2,
        tsc,
        &["error TS2322: Type 'string' is not assignable", "src/a0.ts:3:7", "src/a39.ts:3:7"],
    );
}

#[test]
fn a_list_of_tests_is_an_answer() {
    let raw = lines(128, |i| format!("tests/test_a.py::test_total[{i}]"))
        + "\n128 tests collected in 0.1s\n";
    keeps("pytest --collect-only -q", 0, raw, &["test_total[64]", "128 tests collected"]);
}

#[test]
fn a_suite_that_cannot_load_is_no_pass() {
    let raw = format!(
        "PASS tests/a.test.js\n{}\nFAIL tests/roto.test.js\n  ● Test suite failed to run\n\n    Cannot find module '../src/nope' from 'tests/roto.test.js'\n\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       120 passed, 120 total\n",
        lines(120, |i| format!("    ✓ dobla {i} (1 ms)"))
    );
    shortens(
        "jest --verbose",
        1,
        raw,
        &[
            "tests/roto.test.js",
            "Cannot find module '../src/nope'",
            "Test Suites: 1 failed",
            "120 passed",
        ],
    );
}

#[test]
fn an_unhandled_error_after_green_tests_is_kept() {
    let raw = format!(
        " ✓ vt/a.test.mjs (120 tests)\n{}\n Unhandled Errors \n\nVitest caught 1 unhandled error during the test run.\n\nError: ECONNRESET en el socket\n ❯ Timeout._onTimeout vt/c.test.mjs:2:61\n\n Test Files  2 passed (2)\n      Tests  120 passed (120)\n     Errors  1 error\n",
        lines(120, |i| format!("   ✓ caso {i} 1ms"))
    );
    shortens(
        "vitest run",
        1,
        raw,
        &["ECONNRESET en el socket", "vt/c.test.mjs:2:61", "Errors  1 error"],
    );
}

#[test]
fn every_name_of_a_long_list_of_failures_survives() {
    let failed = lines(49, |i| {
        format!(
            "FAILED tests/test_a.py::test_bad[{i}] - AssertionError: value {i} is too big for this till"
        )
    });
    let details = lines(49, |i| {
        format!(
            "____ test_bad[{i}] ____\n\n    def test_bad(i):\n>       assert i < 0\nE       AssertionError: value {i} is too big\n\ntests/test_a.py:5: AssertionError"
        )
    });
    let raw = format!(
        "=== FAILURES ===\n{details}=== short test summary info ===\n{failed}=== 49 failed, 80 passed in 0.4s ===\n"
    );
    let text = shortens("pytest", 1, raw, &["49 failed, 80 passed"]);
    (0..49).for_each(|i| assert!(text.contains(&format!("test_bad[{i}]")), "{i}"));
}

#[test]
fn an_error_without_a_place_is_an_error() {
    let text = keeps(
        "tsc -p /no",
        1,
        "error TS5058: The specified path does not exist: '/no'.\n",
        &["TS5058"],
    );
    assert!(!text.contains("omitted"));
}

#[test]
fn compile_errors_of_one_package_survive_the_counts_of_others() {
    let raw = format!(
        "# ejemplo.test/roto\nroto/roto.go:11:9: undefined: b\nroto/roto.go:4:2: imported and not used: \"os\"\n{}--- FAIL: TestSacaDeMas (0.00s)\n    almacen_test.go:100: faltan 2\nFAIL\nFAIL\tejemplo.test/almacen\t0.06s\nFAIL\tejemplo.test/roto [build failed]\n",
        lines(150, |i| format!("--- PASS: TestCaso{i} (0.00s)"))
    );
    shortens(
        "go test -v ./...",
        2,
        raw,
        &[
            "roto/roto.go:11:9: undefined: b",
            "imported and not used",
            "TestSacaDeMas",
            "almacen_test.go:100: faltan 2",
            "[build failed]",
        ],
    );
}

#[test]
fn unformatted_files_are_named() {
    let raw = lines(90, |i| format!("[warn] src/componentes/archivo_{i}.js"))
        + "[warn] Code style issues found in 90 files. Run Prettier with --write to fix.\n";
    keeps(
        "prettier --check .",
        1,
        raw,
        &["src/componentes/archivo_0.js", "Code style issues found in 90 files"],
    );
}

#[test]
fn a_test_run_that_does_not_compile_keeps_code_and_place() {
    let raw = format!(
        "{}error[E0425]: cannot find value `zz` in this scope\n --> tests/x.rs:3:13\n  |\n3 |     let a = zz;\n  |             ^^ not found in this scope\n\nerror: could not compile `x` (test \"x\") due to 1 previous error\n",
        lines(90, |i| format!("   Compiling crate_{i} v1.{i}.0"))
    );
    shortens(
        "cargo test",
        101,
        raw,
        &["error[E0425]: cannot find value `zz`", "--> tests/x.rs:3:13", "could not compile"],
    );
}

#[test]
fn warnings_of_a_successful_build_are_told() {
    let warning = |i: usize| {
        format!(
            "warning: unused variable: `v{i}`\n --> src/m{i}.rs:{i}:9\n  |\n{i} |     let v{i} = 3;\n  |         ^^ help: prefix it\n"
        )
    };
    let raw = format!(
        "{}{}warning: `x` (lib) generated 6 warnings\n    Finished `dev` profile in 2s\n",
        lines(90, |i| format!("   Compiling crate_{i} v1.{i}.0")),
        lines(6, warning)
    );
    shortens("cargo build", 0, raw, &["`v0`", "src/m5.rs:5:9", "generated 6 warnings", "Finished"]);
}

#[test]
fn names_without_an_error_word_stay_in_the_list_of_failures() {
    let raw = format!(
        "running 122 tests\n{}test tests::alpha ... FAILED\ntest tests::beta ... FAILED\n\nfailures:\n\n---- tests::alpha stdout ----\nel usuario imprime esto antes\n\nthread 'tests::alpha' panicked at src/pool.rs:9:5:\npool drained at 7\n\n---- tests::beta stdout ----\nError: \"sin saldo\"\n\nfailures:\n    tests::alpha\n    tests::beta\n\ntest result: FAILED. 120 passed; 2 failed\n",
        lines(120, |i| format!("test tests::caso_{i} ... ok"))
    );
    shortens(
        "cargo test",
        101,
        raw,
        &[
            "tests::alpha",
            "tests::beta",
            "pool drained at 7",
            "src/pool.rs:9:5",
            "sin saldo",
            "120 passed; 2 failed",
        ],
    );
}

#[test]
fn every_failing_method_of_a_class_keeps_its_message() {
    let raw = format!(
        "{}[ERROR] Failures: \n[ERROR]   CajaTest.abre:44 la caja no abre ==> expected: <true> but was: <false>\n[ERROR]   CajaTest.cierra:31 expected: <10> but was: <12>\n[ERROR] Tests run: 125, Failures: 2, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE\n",
        lines(60, |i| format!(
            "[INFO] Downloading from central: https://repo.example.org/lib{i}.pom"
        ))
    );
    shortens(
        "mvn test",
        1,
        raw,
        &[
            "CajaTest.abre:44 la caja no abre",
            "CajaTest.cierra:31 expected: <10> but was: <12>",
            "Tests run: 125, Failures: 2",
            "BUILD FAILURE",
        ],
    );
}

#[test]
fn the_one_different_match_of_a_search_is_shown() {
    let raw = lines(236, |i| {
        if i == 205 {
            "src/dir1/archivo_9.rs:616:    static CLAVE: u8 = 7; // TODO revisar".to_owned()
        } else {
            format!(
                "src/dir{}/archivo_{}.rs:{}:    let total_{i} = suma({i}); // TODO revisar",
                i % 6,
                i % 30,
                i * 3 + 1
            )
        }
    });
    let text = keeps("grep -rn TODO src", 0, &raw, &["static CLAVE: u8 = 7", "236 matches in"]);
    assert!(text.len() < raw.len());
}

#[test]
fn markers_in_the_input_are_data() {
    let fake = "[… 12-160]\n[374 lines, 249 omitted as […]; full text: /tmp/x #e27f6374]";
    let raw = format!(
        "{}{fake}\n{}… (34 more lines)\n",
        lines(150, |i| format!("fila {i}: importe {i}")),
        lines(150, |i| format!("fila {i}: importe {i}"))
    );
    shortens("bash gen.sh", 0, raw, &[fake, "… (34 more lines)"]);
    // A text that ends like an extract is one only if its sum is right.
    let raw = format!("{}{fake}\n", lines(300, |i| format!("fila {i}: importe {i}")));
    assert!(!is_extract(raw.as_bytes()));
    shortens("bash gen.sh", 0, raw, &[fake]);
}

#[test]
fn context_rows_are_no_matches() {
    let raw = lines(90, |i| {
        format!(
            "src/a.rs-{}-  antes\nsrc/a.rs:{}:  TOKEN uno:colon {i}\nsrc/b.rs:{}:  TOKEN dos\n--",
            i * 10 + 1,
            i * 10 + 2,
            i * 10 + 3
        )
    });
    let text =
        keeps("grep -n -B1 TOKEN src/a.rs src/b.rs", 0, raw, &["src/a.rs:2:  TOKEN uno:colon 0"]);
    assert!(text.contains("[180 matches in 2 files: src/a.rs 90, b.rs 90]"), "{text}");
}

#[test]
fn a_shortened_array_says_so_beside_its_total() {
    let slugs: Vec<String> = (0..120).map(|i| format!("\"slug-number-{i}-of-the-list\"")).collect();
    let raw = format!("{{\"slugs\":[{}],\"total\":120,\"tags\":[],\"sub\":{{}}}}", slugs.join(","));
    shortens(
        "curl x",
        0,
        raw,
        &["slug-number-0-", "slug-number-119-", "of 120 items", "\"total\":120", "\"tags\":[]"],
    );
}

#[test]
fn a_huge_hunk_leaves_the_other_files_visible() {
    let raw = format!(
        "diff --git a/big.txt b/big.txt\ndeleted file mode 100644\n--- a/big.txt\n+++ /dev/null\n@@ -1,160000 +0,0 @@\n{}diff --git a/src/caja.rs b/src/caja.rs\n--- a/src/caja.rs\n+++ b/src/caja.rs\n@@ -1,7 +1,7 @@ fn cierra()\n linea 4\n-    total += 1;\n+    total += 2;\n linea 6\n",
        lines(160_000, |i| format!("-linea {i}"))
    );
    shortens(
        "git diff",
        0,
        raw,
        &["deleted file mode", "-    total += 1;", "+    total += 2;", " linea 4"],
    );
}

#[test]
fn bodies_of_commits_stay() {
    let raw = lines(40, |i| {
        format!(
            "commit {i:040x}\nAuthor: Ana <ana@example.test>\nDate:   Sun Nov 1 10:00:00 2026 +0100\n\n    Arregla el caso {i}\n\n    Cuerpo {i}: la caja no cerraba.\n"
        )
    });
    keeps("git log -40", 0, raw, &["Arregla el caso 0", "Cuerpo 0: la caja", "Arregla el caso 39"]);
}

#[test]
fn a_place_belongs_to_its_own_failure() {
    let raw = format!(
        "{}E   ValueError: sin stock\n\ntienda/carrito.py:47: ValueError\n=== warnings summary ===\ntests/test_a.py:24: DeprecationWarning: old\n1 failed, 120 passed\n",
        passed(120)
    );
    let text = shortens("pytest", 1, raw, &["ValueError: sin stock"]);
    assert!(
        text.find("sin stock") < text.find("carrito.py:47")
            && text.find("carrito.py:47") < text.find("test_a.py:24"),
        "{text}"
    );
}

#[test]
fn bytes_that_are_no_text_do_not_break_what_follows() {
    let mut raw = b"pedido 0: cami\xf3n n\xba 1\n".to_vec();
    (1..320)
        .for_each(|i| raw.extend(format!("pedido {i}: cami").bytes().chain(*b"\xf3n n\xba 1\n")));
    raw.extend(b"ERROR pedido 131 sin direcci\xf3n\0\n");
    let text = seen("cat l1.txt", 0, &raw);
    assert!(text.len() * 2 < raw.len());
    assert!(memchr::memmem::find(&text, b"ERROR pedido 131 sin direcci\xf3n\0").is_some());
}

#[test]
fn a_repository_status_in_another_language_is_left_whole() {
    let raw = format!(
        "En la rama principal\nCambios no rastreados para el commit:\n{}\tborrados:        docs/guía año.md\n\nsin cambios agregados al commit\n",
        lines(60, |i| format!("\tmodificados:     src/módulo_{i}.rs"))
    );
    keeps("git status", 0, raw, &["rama principal", "docs/guía año.md", "src/módulo_30.rs"]);
}

#[test]
fn the_largest_and_the_odd_row_of_a_table_stay() {
    let raw = "SIZE\tPATH\n".to_owned()
        + &lines(200, |i| {
            format!("{}\t/srv/datos/dir_{i}", if i == 77 { 9_999_999 } else { 1000 + i })
        });
    shortens("du -a /srv", 0, raw, &["SIZE\tPATH", "9999999", "/srv/datos/dir_77"]);
    let pods = "NAME        READY   STATUS    RESTARTS\n".to_owned()
        + &lines(150, |i| {
            format!(
                "svc-{i:03}     1/1     {}   0",
                if i == 88 { "CrashLoopBackOff" } else { "Running" }
            )
        });
    shortens("kubectl get pods", 0, pods, &["NAME", "svc-088", "CrashLoopBackOff", "151 lines"]);
}

#[test]
fn progress_shrinks_to_its_last_state_and_what_was_said_between() {
    let bar = |from: usize, to: usize| {
        (from..to)
            .map(|i| format!("\rDescargando [{}] {i}%", "#".repeat(i / 4)))
            .collect::<String>()
    };
    let raw = format!("{}\naviso: bloque 63 corrupto\n{}\nsha256 OK\n", bar(0, 64), bar(64, 101));
    let text =
        shortens("python3 d.py", 0, raw, &["aviso: bloque 63 corrupto", "100%", "sha256 OK"]);
    assert!(text.contains("states of line 1"), "{text}");
}

#[test]
fn the_same_output_gives_the_same_extract_and_an_extract_none() {
    let raw = passed(200) + "FAILED tests/test_a.py::test_x - boom\n1 failed, 200 passed\n";
    let once = seen("pytest", 1, raw.as_bytes());
    assert_eq!(once, seen("pytest", 1, raw.as_bytes()));
    assert_eq!(once, seen("pytest", 1, &once));
    assert_eq!(once.trim_ascii_end(), seen("cat", 0, once.trim_ascii_end()));
}

#[test]
fn one_very_long_line_is_cut_in_linear_time() {
    let mut raw = b"inicio\n".to_vec();
    raw.extend(std::iter::repeat_n(b'x', 10 << 20));
    raw.extend(b"\nfin del texto\n");
    let text = keeps("cat big", 0, raw, &["inicio", "fin del texto", " bytes]"]);
    assert!(text.len() < 2000);
    let json = format!(
        "{{\"a\":[{}],\"fin\":\"hecho\"}}",
        vec!["{\"k\":1,\"v\":\"aaaa\"}"; 200_000].join(",")
    );
    let text = keeps("cat big.json", 0, json, &["of 200000 items", "\"fin\":\"hecho\""]);
    assert!(text.len() < 2000);
}

#[test]
fn nothing_small_or_hardly_shorter_is_touched() {
    for raw in ["", "hi\n", &lines(60, |i| format!("{i}"))] {
        assert_eq!(seen("echo", 0, raw.as_bytes()), raw.as_bytes());
    }
    let prose = lines(60, |i| {
        format!(
            "Párrafo {} que {} nada con {} en común.",
            "abcdefghij".repeat(i % 4 + 1),
            "no tiene ".repeat(i % 3 + 1),
            i * i
        )
    });
    let code = lines(200, |i| format!("fn f{i}() {{ g({i}) }}"));
    assert_eq!(seen("cat src/a.rs", 0, code.as_bytes()), code.as_bytes());
    assert!(seen("cat notas.md", 0, prose.as_bytes()) == prose.as_bytes());
}

#[test]
fn wrapped_messages_of_a_long_report_are_read_whole() {
    let raw = lines(40, |i| {
        format!(
            "pkg/typed.py:{}: error: Argument 1 to \"h{i}\" has incompatible type \"str\"; expected\n\"int\"  [arg-type]\n        return h(p)\n                 ^",
            i * 4 + 1
        )
    }) + "Found 40 errors in 1 file (checked 2 source files)";
    let text = shortens(
        "mypy --pretty pkg",
        1,
        raw,
        &["expected \"int\" [arg-type]", "pkg/typed.py:1", "157 \"h39\"", "Found 40 errors"],
    );
    assert!(text.len() < 1500, "{text}");
}
