//! Limits on the work that one file causes.

/// Limits for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest file, in bytes.
    pub input_bytes: usize,
    /// What all members of a ZIP-based file that are read may unpack to together, in bytes.
    pub unpacked_bytes: usize,
    /// Most members of a ZIP-based file.
    pub members: usize,
    /// How many times its packed size a member above 1 MiB may unpack to.
    pub ratio: usize,
    /// Most elements and pieces of text of XML, over all members.
    pub elements: usize,
    /// Deepest nesting of XML, 4 to 200.
    pub depth: usize,
    /// Longest text that comes out, in bytes; a paragraph counts 64 bytes more.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 256 << 20,
            unpacked_bytes: 128 << 20,
            members: 20_000,
            ratio: 400,
            elements: 3_000_000,
            depth: 160,
            text_bytes: 32 << 20,
        }
    }
}

/// What is still allowed for a file.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) limits: Limits,
    pub(crate) unpacked_left: usize,
    pub(crate) elements_left: usize,
    text_left: usize,
    left_out: Vec<String>,
}

/// Messages that are kept.
const MOST_MESSAGES: usize = 50;
/// What a paragraph counts beyond its text.
const PARAGRAPH_BYTES: usize = 64;

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        // Readers recurse over elements: no setting may exhaust a thread's stack.
        let limits = Limits { depth: limits.depth.clamp(4, 200), ..limits.clone() };
        Self {
            unpacked_left: limits.unpacked_bytes,
            elements_left: limits.elements,
            text_left: limits.text_bytes,
            left_out: Vec::new(),
            limits,
        }
    }

    /// Reports something that is missing, once.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.left_out.len() < MOST_MESSAGES && !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// Takes the bytes of a paragraph; `None` when no text is allowed anymore. A text that does not fit is cut.
    pub(crate) fn take(&mut self, mut text: String) -> Option<String> {
        let most = self.text_left.saturating_sub(PARAGRAPH_BYTES);
        if text.len() > most {
            self.leave_out(format!("text after the first {} bytes", self.limits.text_bytes));
            text.truncate(text.floor_char_boundary(most));
        }
        self.text_left = self.text_left.saturating_sub(text.len() + PARAGRAPH_BYTES);
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn left_out(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left_out)
    }
}
