//! What every drawing file has in common: it fits the window that it is opened in, and is light or
//! dark as its reader likes.
//!
//! In comes an SVG with a white ground as it was drawn, out goes the same one
//! with a style of its own. In the dark everything is inverted and hues are
//! turned back, so that white becomes black and blue stays blue.

/// The style of the drawing, by a class of its own: a page may hold the drawing itself.
const STYLE: &str = "\n<style>@media (prefers-color-scheme: dark) { .motley-drawing { filter: \
                     invert(1) hue-rotate(180deg) } }</style>";

/// The drawing for windows of any width, and for light and dark ones.
pub(super) fn fit(svg: &str) -> String {
    let size = "<svg class=\"motley-drawing\" style=\"max-width:100%;height:auto\" ";
    let fitted = svg.replacen("<svg ", size, 1);
    match fitted.split_once('>') {
        Some((root, rest)) => format!("{root}>{STYLE}{rest}"),
        None => fitted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_gets_a_style_and_keeps_all_that_it_had() {
        let fitted = fit("<svg width=\"9\" viewBox=\"0 0 9 9\">\n<rect/>\n</svg>\n");
        let expected = "<svg class=\"motley-drawing\" style=\"max-width:100%;height:auto\" \
                        width=\"9\" viewBox=\"0 0 9 9\">\n<style>@media (prefers-color-scheme: \
                        dark) { .motley-drawing { filter: invert(1) hue-rotate(180deg) } }\
                        </style>\n<rect/>\n</svg>\n";
        assert_eq!(fitted, expected);
    }
}
