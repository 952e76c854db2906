//! The glyphs of a page with their characters and places.

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::xref::XRef;
use hayro_interpret::kurbo::{Affine, BezPath, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Most glyphs of one page to keep.
const MAX_GLYPHS: usize = 200_000;
/// Bytes of vertical text of one page to keep.
const MAX_VERTICAL: usize = 1_024;
/// Drawn elements between two checks of `stop`.
const LOOK: usize = 1_024;

/// One glyph. Lengths are in points, y grows upwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlacedGlyph {
    /// Its characters: one, or the letters of a ligature.
    pub(super) text: String,
    /// Left end on the baseline.
    pub(super) x: f64,
    /// Baseline.
    pub(super) y: f64,
    /// Where the next glyph of the word would start.
    pub(super) end: f64,
    /// Size of the font.
    pub(super) size: f64,
}

/// The drawing of a page.
#[derive(Default)]
pub(super) struct Drawn {
    /// Upright glyphs with characters, in the order they are drawn.
    pub(super) glyphs: Vec<PlacedGlyph>,
    /// Characters that run up or down the page, in the order they are drawn: where arXiv stamps its identifier.
    pub(super) vertical: String,
    /// Glyphs without a known character.
    pub(super) unnamed: usize,
    /// Everything that was drawn.
    pub(super) elements: usize,
}

/// How reading a page ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// At its end.
    Whole,
    /// With as many elements as may be drawn.
    Full,
    /// Because it was to stop.
    Stopped,
}

/// The glyphs of a page, as far as `most` elements go. A page can draw a form that draws forms, so that nothing in the file says
/// how many elements it has.
pub(super) fn page_glyphs<'a>(
    page: &Page<'a>,
    cache: &InterpreterCache<'a>,
    xref: &'a XRef,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> (Drawn, Ended) {
    let mut reader = Reader { out: Drawn::default(), most, stop };
    let everything = Rect::new(-1e6, -1e6, 1e6, 1e6);
    // The interpreter has no cancellation callback; unwinding, without a message, is the only way out of it.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, everything, cache, xref, settings);
        interpret_page(page, &mut context, &mut reader);
    }));
    match read.map_err(<Box<dyn std::any::Any + Send>>::downcast::<Ended>) {
        Ok(()) => (reader.out, Ended::Whole),
        Err(Ok(ended)) => (reader.out, *ended),
        Err(Err(panic)) => resume_unwind(panic),
    }
}

/// Collects what a page draws.
struct Reader<'s> {
    out: Drawn,
    most: usize,
    stop: &'s dyn Fn() -> bool,
}

impl Reader<'_> {
    /// Counts drawn elements, and stops the page at the limit.
    fn count(&mut self, elements: usize) {
        let before = self.out.elements;
        self.out.elements += elements.max(1);
        if self.out.elements >= self.most {
            resume_unwind(Box::new(Ended::Full));
        }
        if before / LOOK != self.out.elements / LOOK && (self.stop)() {
            resume_unwind(Box::new(Ended::Stopped));
        }
    }
}

impl Device<'_> for Reader<'_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        self.count(run.glyphs().len());
        let out = &mut self.out;
        for placed in run.glyphs() {
            if out.glyphs.len() >= MAX_GLYPHS {
                return;
            }
            let text = match placed.as_unicode() {
                Some(BfString::Char(c)) => c.to_string(),
                Some(BfString::String(text)) => text,
                None => {
                    out.unnamed += 1;
                    continue;
                }
            };
            let [across, up, c, d, x, y] = (props.transform * placed.transform()).as_coeffs();
            // Vertical text in the margin is not part of the page's text.
            if up.abs() > across.abs() {
                if out.vertical.len() < MAX_VERTICAL {
                    out.vertical.push_str(&text);
                }
                continue;
            }
            if !x.is_finite() || !y.is_finite() {
                continue;
            }
            let size = c.hypot(d) * 1000.0;
            let advance = match &**placed {
                Glyph::Outline(glyph) => glyph.advance_width(),
                Glyph::Type3(glyph) => glyph.advance_width(),
            };
            let end = x + advance.map_or(size * 0.5, |width| f64::from(width) * across);
            out.glyphs.push(PlacedGlyph { text, x, y, end, size });
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {
        self.count(1);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {
        self.count(1);
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {
        self.count(1);
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.count(1);
    }

    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
