"""TeX of an answer where no KaTeX is: what it reads as, and that nothing in it does harm."""

from __future__ import annotations

import re

from presentation.panels.conversation.formulas import rich_text, with_formulas
from presentation.panels.conversation.markup import to_html
from tests.ground.campaign import Campaign, campaigns
from tests.ground.cases import for_each


@for_each(
    ("tex", "shown"),
    [
        (r"f_c = \frac{1}{2\pi RC}", "f<sub>c</sub> = 1/(2πRC)"),
        (r"\frac{V_{out}}{V_{in}}", "V<sub>out</sub>/V<sub>in</sub>"),
        (r"\omega_0 = \frac{1}{\sqrt{L C}}", "ω<sub>0</sub> = 1/(√(L C))"),
        (r"Q = \dfrac{\omega_0 L}{R} \approx 0.707", "Q = (ω<sub>0</sub> L)/R ≈ 0.707"),
        (r"10\,\mathrm{k\Omega} \times 100\,\text{nF}", "10\u202fkΩ × 100\u202fnF"),
        (r"|H(j\omega)|^2 \le -3\,\text{dB}", "|H(jω)|<sup>2</sup> ≤ -3\u202fdB"),
        (r"90^\circ, 20\log_{10}\left|H\right|", "90°, 20log<sub>10</sub>|H|"),
        (r"\sin x + e^{-t/\tau}", "sin x + e<sup>-t/τ</sup>"),
        (r"a < b \& c", "a &lt; b &amp; c"),
        (r"\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}", "a = 1 <br> b = 2"),
        (r"\frac{1}{2", r"\frac{1}{2"),
        ("", ""),
    ],
)
def test_formulas_are_read_as_text(tex: str, shown: str) -> None:
    assert rich_text(tex) == shown


def test_only_the_formulas_of_an_answer_are_another() -> None:
    page = to_html(r"The corner is \(f_c = \frac{1}{2\pi RC}\), as `\frac` says: $$x<y$$")
    shown = with_formulas(page)
    assert "The corner is f<sub>c</sub> = 1/(2πRC), as <code>\\frac</code> says: x&lt;y" in shown
    assert with_formulas("<p>no formula</p>") == "<p>no formula</p>"


@campaigns(fast=300, whole=50_000)
def test_whatever_stands_in_a_formula_does_no_harm(campaign: Campaign) -> None:
    words = [*r"\{}^_<>&'\" x1", r"\frac", r"\sqrt", r"\text", "<script>", r"\left", "{" * 30, r"\begin{a}"]
    for rng in campaign.cases():
        shown = rich_text("".join(rng.choice(words) for _ in range(rng.randint(0, 60))))
        assert set(re.findall(r"<[^>]*>", shown)) <= {"<sub>", "</sub>", "<sup>", "</sup>", "<br>"}
