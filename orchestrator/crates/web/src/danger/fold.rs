//! A text as the rules see it: lower case, single spaces, plain letters, nothing invisible.

/// The folded text, with the way back to the characters it came from.
pub(super) struct Folded {
    pub(super) text: String,
    /// For every byte of `text`, the index of its character in the original.
    origins: Vec<usize>,
    /// Indices of invisible characters in the original.
    invisible: Vec<usize>,
}

impl Folded {
    pub(super) fn of(chars: &[char]) -> Self {
        let mut folded = Self { text: String::new(), origins: Vec::new(), invisible: Vec::new() };
        for (i, &c) in chars.iter().enumerate() {
            if is_invisible(c) {
                folded.invisible.push(i);
            } else if is_struck(c) && folded.text.ends_with(|last: char| last.is_ascii_alphabetic()) {
                // A stroke or dots do not change a letter.
            } else if c.is_whitespace() || c.is_control() {
                if !folded.text.is_empty() && !folded.text.ends_with(' ') {
                    folded.push(' ', i);
                }
            } else if c.is_ascii() {
                folded.push(c.to_ascii_lowercase(), i);
            } else {
                folded.fold(c, i, chars);
            }
        }
        folded
    }

    fn fold(&mut self, c: char, i: usize, chars: &[char]) {
        if let Some(latin) = lookalike(c) {
            let near = |j: Option<usize>| j.and_then(|j| chars.get(j)).is_some_and(char::is_ascii_alphabetic);
            if near(i.checked_sub(1)) || near(Some(i + 1)) {
                return self.push(latin, i);
            }
        }
        if is_kana_or_han(c) {
            self.close_gap(chars, i);
            return self.push(c, i);
        }
        if let Some(latin) = styled(c) {
            return self.push(latin, i);
        }
        for plain in lyra_text::normalise(c.encode_utf8(&mut [0; 4])).chars().flat_map(char::to_lowercase) {
            if is_kana_or_han(plain) {
                self.close_gap(chars, i);
            }
            if !(is_voicing(plain) && self.voice(plain)) {
                self.push(plain, i);
            }
        }
    }

    /// Japanese and Chinese have no spaces: a single one between two of their characters is taken back.
    fn close_gap(&mut self, chars: &[char], i: usize) {
        let single = i.checked_sub(2).is_some_and(|before| !chars[before].is_whitespace());
        let spaced = self.text.strip_suffix(' ').is_some_and(|text| text.ends_with(is_kana_or_han));
        if spaced && single && chars[i - 1] != '\n' {
            self.text.pop();
            self.origins.truncate(self.text.len());
        }
    }

    /// Half-width kana have their voicing behind them, as a character of its own.
    fn voice(&mut self, mark: char) -> bool {
        let Some(last) = self.text.chars().next_back() else { return false };
        let composed = lyra_text::normalise(&String::from_iter([last, mark]));
        let mut composed = composed.chars();
        let (Some(one), None) = (composed.next(), composed.next()) else { return false };
        let origin = self.origins.last().copied().unwrap_or_default();
        self.text.pop();
        self.origins.truncate(self.text.len());
        self.push(one, origin);
        true
    }

    fn push(&mut self, c: char, origin: usize) {
        self.text.push(c);
        self.origins.resize(self.text.len(), origin);
    }

    /// The original characters behind a range of bytes.
    pub(super) fn place(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.origins.get(start).copied().unwrap_or_default();
        let last = end.checked_sub(1).and_then(|last| self.origins.get(last)).copied().unwrap_or(first);
        (first, last + 1)
    }

    /// Whether invisible characters stand between letters of the original from `start` to `end`. One soft hyphen or
    /// break hint is typography; three are not.
    pub(super) fn skips_invisible(&self, start: usize, end: usize) -> bool {
        self.invisible.iter().filter(|i| (start..end).contains(*i)).count() >= 3
    }
}

/// Characters without width or ink, those that reorder text included.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

fn is_kana_or_han(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}')
}

fn is_voicing(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309A}')
}

/// Marks that strike through, underline or surround a letter.
fn is_struck(c: char) -> bool {
    matches!(c, '\u{305}' | '\u{331}'..='\u{338}' | '\u{33F}' | '\u{346}'..='\u{362}' | '\u{20D0}'..='\u{20F0}')
}

/// Lookalike letters: regional indicators and small capitals.
fn styled(c: char) -> Option<char> {
    const SMALL: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡ\u{0}ʏᴢ";
    if let '\u{1F1E6}'..='\u{1F1FF}' = c {
        return char::from_u32(u32::from(c) - 0x1F1E6 + u32::from('a'));
    }
    let place = SMALL.chars().position(|small| small == c && c != '\0')?;
    char::from_u32(u32::from('a') + place as u32)
}

/// Cyrillic, Greek and Armenian letters that look Latin.
fn lookalike(c: char) -> Option<char> {
    Some(match c {
        'ս' | 'Ս' => 'u',
        'ց' => 'g',
        'զ' => 'q',
        'Լ' => 'l',
        'а' | 'А' | 'α' | 'Α' => 'a',
        'В' | 'Β' => 'b',
        'с' | 'С' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' => 'e',
        'հ' | 'һ' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'Ι' | 'ι' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'Κ' => 'k',
        'М' | 'Μ' => 'm',
        'ո' | 'Ν' => 'n',
        'օ' | 'Օ' | 'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'Ρ' | 'ρ' => 'p',
        'Տ' | 'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' => 't',
        'у' | 'У' | 'Υ' => 'y',
        'х' | 'Х' | 'Χ' => 'x',
        _ => return None,
    })
}
