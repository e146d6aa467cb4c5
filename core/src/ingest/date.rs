//! Days as people write them, to ISO `YYYY-MM-DD`.

use chrono::NaiveDate;

/// English and Spanish month names by their first three letters; where the
/// languages differ both stand.
const MONTHS: [(&str, u32); 18] = [
    ("jan", 1),
    ("ene", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("abr", 4),
    ("may", 5),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("ago", 8),
    ("sep", 9),
    ("set", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
    ("dic", 12),
    ("dez", 12),
];

/// Returns the day that `text` states, as written (no time zone moves it).
///
/// `None` for what is no day, does not exist, or can be read two ways
/// (`03/04/2024`): a wrong day is worse than none.
pub(super) fn day(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'', '[', ']', ' ']);
    let (year, month, day) = iso(text).or_else(|| numbers(text)).or_else(|| words(text))?;
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    ((1000..=9999).contains(&year)).then(|| date.format("%Y-%m-%d").to_string())
}

type Ymd = (i32, u32, u32);

/// `2024-01-05…`, `2024/1/5`, `2024.01.05`, `20240105`, `20240105T…`.
fn iso(text: &str) -> Option<Ymd> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 8 || digits == 14 {
        return Some((number(text, 0, 4)? as i32, number(text, 4, 6)?, number(text, 6, 8)?));
    }
    if digits != 4 {
        return None;
    }
    let mut parts = text.split(['-', '/', '.']);
    let year = parts.next()?.parse().ok()?;
    let month = parts.next()?.parse().ok()?;
    let day: String = parts.next()?.chars().take_while(char::is_ascii_digit).collect();
    Some((year, month, day.parse().ok()?))
}

fn number(text: &str, from: usize, to: usize) -> Option<u32> {
    text.get(from..to)?.parse().ok()
}

/// `25/12/2024`, `12-25-2024`, `5.1.2024` (dots are day first everywhere).
fn numbers(text: &str) -> Option<Ymd> {
    let head = text.split([' ', 'T']).next()?;
    let separator = head.chars().find(|c| matches!(c, '/' | '-' | '.'))?;
    let mut parts = head.split(separator);
    let (a, b): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    match (a, b) {
        _ if separator == '.' || a > 12 || a == b => Some((year, b, a)),
        _ if b > 12 => Some((year, a, b)),
        _ => None,
    }
}

/// `5 January 2024`, `Jan 5, 2024`, `5 de enero de 2024`, `Fri Jan 05 2024`.
fn words(text: &str) -> Option<Ymd> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        match digits.len() {
            0 if month.is_none() => month = month_of(word),
            1 | 2 if day.is_none() => day = digits.parse().ok(),
            4 if year.is_none() => year = digits.parse().ok(),
            _ => {}
        }
    }
    Some((year?, month?, day?))
}

fn month_of(word: &str) -> Option<u32> {
    let head = word.to_lowercase();
    let head = head.get(..3)?;
    MONTHS.iter().find(|(name, _)| *name == head).map(|(_, month)| *month)
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_come_in_many_shapes() {
        for text in [
            "2024-01-05",
            "2024-1-5",
            "2024/01/05",
            "2024.01.05",
            "2024-01-05T23:59:00Z",
            "2024-01-05 10:00",
            "20240105",
            "20240105T101500",
            "\"2024-01-05\"",
            "[[2024-01-05]]",
            "05.01.2024",
            "5 January 2024",
            "January 5, 2024",
            "5th Jan 2024",
            "5 de enero de 2024",
            "Fri Jan 05 2024 10:00:00 GMT+0100",
        ] {
            assert_eq!(day(text).as_deref(), Some("2024-01-05"), "{text}");
        }
        assert_eq!(day("25/12/2024").as_deref(), Some("2024-12-25"));
        assert_eq!(day("12-25-2024").as_deref(), Some("2024-12-25"));
    }

    #[test]
    fn what_is_no_day_or_reads_two_ways_is_none() {
        for text in
            ["", "soon", "03/04/2024", "2024-13-01", "2024-02-30", "2024", "{{date}}", "1/2/24"]
        {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
