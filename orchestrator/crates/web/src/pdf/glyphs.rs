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

/// Glyphs of one page that are kept.
const MAX_GLYPHS: usize = 200_000;

/// One glyph. Lengths are in points, y grows upwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlacedGlyph {
    /// Its characters: one, or the letters of a ligature.
    pub(super) text: String,
    /// Left end on the baseline.
    pub(super) x: f64,
    /// Baseline.
    pub(super) y: f64,
    /// Where the next glyph of the word would stand.
    pub(super) end: f64,
    /// Size of the font.
    pub(super) size: f64,
}

/// What a page draws.
#[derive(Default)]
pub(super) struct Drawn {
    /// Upright glyphs with characters, in the order they are drawn.
    pub(super) glyphs: Vec<PlacedGlyph>,
    /// Glyphs that stand for no known character.
    pub(super) unnamed: usize,
}

pub(super) fn page_glyphs<'a>(page: &Page<'a>, cache: &InterpreterCache<'a>, xref: &'a XRef) -> Drawn {
    let mut drawn = Drawn::default();
    let everything = Rect::new(-1e6, -1e6, 1e6, 1e6);
    let mut context = Context::new(Affine::IDENTITY, everything, cache, xref, InterpreterSettings::default());
    interpret_page(page, &mut context, &mut drawn);
    drawn
}

impl Device<'_> for Drawn {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for placed in run.glyphs() {
            if self.glyphs.len() >= MAX_GLYPHS {
                return;
            }
            let text = match placed.as_unicode() {
                Some(BfString::Char(c)) => c.to_string(),
                Some(BfString::String(text)) => text,
                None => {
                    self.unnamed += 1;
                    continue;
                }
            };
            let [across, up, c, d, x, y] = (props.transform * placed.transform()).as_coeffs();
            // Text that runs up the margin is no part of the page's text.
            if up.abs() > across.abs() || !x.is_finite() || !y.is_finite() {
                continue;
            }
            let size = c.hypot(d) * 1000.0;
            let advance = match &**placed {
                Glyph::Outline(glyph) => glyph.advance_width(),
                Glyph::Type3(glyph) => glyph.advance_width(),
            };
            let end = x + advance.map_or(size * 0.5, |width| f64::from(width) * across);
            self.glyphs.push(PlacedGlyph { text, x, y, end, size });
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
