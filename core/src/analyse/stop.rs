//! Function words, folded: too frequent to tell notes apart.

use crate::model::Language;

/// English function words, question words and the verbs questions are made of.
const ENGLISH: &str = " a about above after again all also am an and any are arent as at be because \
been before being below between both but by can cannot cant could couldnt did didnt do does doesnt \
doing dont down during each few for from further get had hadnt has hasnt have havent having he her \
here hers herself him himself his how i id if ill im in into is isnt it its itself ive just lets me \
more most my myself no nor not of off on once only or other our ours ourselves out over own please \
same she should shouldnt so some such than that thats the their theirs them themselves then there \
these they this those through to too under until up very was wasnt we were werent what whats when \
where which while who whom whose why will with wont would wouldnt you your yours yourself ";

/// Spanish function words, question words and the verbs questions are made of.
const SPANISH: &str = " a al algo algun alguna algunas alguno algunos ante antes aquel aquella \
aquellas aquello aquellos aqui asi aun aunque cada como con contra cual cuales cuando cuanta cuantas \
cuanto cuantos de del desde donde dos e el ella ellas ello ellos en entonces entre era eran eres es \
esa esas ese eso esos esta estaba estaban estado estan estar estas este esto estos estoy fue fueron \
fui ha habia habian haber hace hacer hacia han has hasta hay he hemos hubo la las le les lo los mas \
me mi mis mucho muy nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro \
otros para pero poco por porque pues que quien quienes se sea sean segun ser si sido sin sobre sois \
solo somos son soy su sus suya suyo tal tambien tampoco tan tanto te tenia tiene tienen todo todos \
toda todas tras tu tus un una unas uno unos usted ustedes va van vosotros vuestra vuestro y ya yo ";

/// True when `word` (folded) is a function word of the language.
pub fn is_stop(word: &str, language: Language) -> bool {
    let list = match &language.0 {
        b"es" => SPANISH,
        _ => ENGLISH,
    };
    list.match_indices(word).any(|(at, _)| {
        let bytes = list.as_bytes();
        bytes.get(at.wrapping_sub(1)) == Some(&b' ') && bytes.get(at + word.len()) == Some(&b' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_go_by_language() {
        assert!(is_stop("the", Language::ENGLISH));
        assert!(!is_stop("the", Language::SPANISH));
        assert!(is_stop("que", Language::SPANISH));
        assert!(is_stop("a", Language::ENGLISH));
        assert!(!is_stop("bout", Language::ENGLISH));
    }
}
