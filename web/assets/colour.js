/* SPDX-License-Identifier: MIT */
/* The colour of the installation, and where it can be read. Colours are written "#rrggbb". */

/* The colour that the style sheets have by themselves. */
const BUILT_IN = "#1d4f7c";

function channel(value) {
    const part = Number.parseInt(value, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

/* Relative luminance and contrast, as WCAG 2 defines them. */
function luminance(colour) {
    return 0.2126 * channel(colour.slice(1, 3)) + 0.7152 * channel(colour.slice(3, 5))
        + 0.0722 * channel(colour.slice(5, 7));
}

function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}

/* Links take the colour only where it can be read on `ground`; buttons take it always. */
export function showColour(accent, ground) {
    const style = document.documentElement.style;
    if (accent === BUILT_IN) {
        return;
    }
    style.setProperty("--button", accent);
    const white = contrast(accent, "#ffffff") >= contrast(accent, "#000000");
    style.setProperty("--on-button", white ? "#ffffff" : "#000000");
    if (contrast(accent, ground) >= 4.5) {
        style.setProperty("--accent", accent);
    } else {
        style.removeProperty("--accent");
    }
}
