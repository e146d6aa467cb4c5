//! Whether a text has a subject, or only says what to do with code.
//!
//! "Fix the failing test" is made of words that half the passages of technical
//! notes have, and one that has both its words looks as good as an answer. What
//! such an errand is about stands in the words that are left without them.

use super::prompt::{is_topic, n_ideographs};
use crate::text::fold;

/// Subjects beyond this many say nothing more.
pub(super) const MANY: usize = 3;

/// What is done to code, and what code is made of, in English and Spanish.
const WORK: &str = " add added adding adjust api apply arrange branch branches break breaks broken bug \
    bugs build builds bump change changed changes changelog check ci class classes clean cleanup cli \
    code codebase column comment comments commit commits compile component components constant convert \
    crash create crate crates dead debug define defined delete dependencies dependency diff docs \
    docstring document documentation documented edit error errors exception fail failed failing fails \
    failure feature field file files fix fixed fixes flag flaky folder format function functions green \
    handle helper implement import imports improve install interface issue issues job lib library line \
    lines lint linter list local locally log logs main message messages method methods missing mock \
    module modules move name names open package packages param parameter parameters plan pr print \
    project pull rebase red refactor reformat release remove removed rename repo repository request \
    requests rerun return revert review rewrite running runs script scripts setup shorten shorter \
    simplify snippet source split src stack struct style suite summarize support switch test tested \
    tests todo todos tool tools trace trait type typed types typo unit unused update updated upgrade use \
    used uses using variable variables version warning warnings write written wrong anade anadir agrega \
    agregar actualiza actualizar archivo archivos arregla arreglalo arreglar arregle bloque borra borrar \
    cambia cambiar cambio cambios clase clases codigo comentario comentarios compila compilar \
    compilacion componente componentes comprueba corrige corregir crea crear dependencias depura \
    documenta documentacion ejecuta ejecutar elimina eliminar falla fallan fallo fallos fichero \
    ficheros formatea funcion funciones funciona implementa implementar importa instala linea lineas \
    limpia limpiar lista mensaje mensajes metodo metodos modulo modulos mueve mover nombre paquete \
    parametro parametros prueba pruebas publica publicas quita quitar rama ramas refactoriza renombra \
    renombrar repositorio resume revisa revisar rompe roto sube subir tarea tipo tipos usa bash cargo \
    cmake curl go gradle java javac jest make mvn mypy node npm npx php pip pip3 pnpm poetry pytest \
    python python3 ruby ruff rustc sh tsc uv vitest yarn ";

/// Counts the different words a text has besides those of any work on code, up
/// to [`MANY`].
pub(super) fn n_subjects(text: &str) -> usize {
    let mut found: Vec<String> = Vec::new();
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let folded = fold(word);
        if !is_topic(&folded) || WORK.contains(&format!(" {folded} ")) || found.contains(&folded) {
            continue;
        }
        // Scripts without blanks: a long run is a phrase.
        if n_ideographs(word) >= 4 {
            return MANY;
        }
        found.push(folded);
        if found.len() == MANY {
            break;
        }
    }
    found.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errands_have_no_subject() {
        for text in [
            "fix the failing tests",
            "run the tests and fix whatever breaks",
            "ejecuta los tests",
            "why is the CI red?",
            "quita el código muerto, limpia los imports",
            "cargo test",
            "refactor this function",
            "¿por qué falla el build?",
        ] {
            assert!(n_subjects(text) <= 1, "{text}: {}", n_subjects(text));
        }
        assert_eq!(n_subjects("fix the failing tests"), 0);
        assert_eq!(n_subjects("ejecuta los tests"), 0);
    }

    #[test]
    fn questions_have_one() {
        assert_eq!(n_subjects("how do we rotate the staging certificates"), MANY);
        assert_eq!(n_subjects("What does 'plastid' mean?"), 1);
        assert_eq!(n_subjects("add pagination to the orders endpoint"), MANY);
        assert_eq!(n_subjects("fix the login form, the login form"), 2);
        assert_eq!(n_subjects("東京の天気予報"), MANY);
        assert_eq!(n_subjects(""), 0);
    }
}
