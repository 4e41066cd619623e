"""By which words a sentence means the quantities that many circuits have."""

from __future__ import annotations

SUPPLY = (
    r"suppl\w+|power(?:ed)?|rails?|batter\w+|running (?:on|off|from)|runs? (?:on|off|from)|"
    r"single(?=,? ?\+?[\d.]+ ?v)|供电|电源|电池|单(?=\s?[\d.]+\s?[v伏])|(?<![a-z])v(?:cc|dd)(?![a-z])"
)
LOAD = (
    r"load|driv(?:es?|ing)(?: an?)?|负载|(?<![a-z])r_?l(?:oad)?(?![a-z])|"
    r"into(?= (?:an? )?[\d.]+\s?[kKmM]?(?![a-zA-Z]))|带(?=\s?[\d.]+)"
)
NEXT_INPUT = (
    r"(?:后[级面]|下一级|next stage|following stage)[^\d,;。、]{0,8}"
    r"(?:输入)?(?:阻抗|电阻|impedance|resistance)|"
    r"(?<![a-z])adc(?:'?s)? ?的?(?:input (?:impedance|resistance)|输入(?:阻抗|电阻))"
)
"""The input resistance of what follows: a load."""
INPUT_OHM = (
    r"(?<!adc )(?<!adc's )(?<!stage )input (?:resistance|impedance|z(?![a-z]))s?|"
    r"(?<![a-z])[rz]_?in(?![a-z])|inputs?(?= ?(?:$|[,.;]))|"
    r"(?<!后[级面])(?<!下一级)(?<!adc)(?<!adc的)输入(?:电阻|阻抗)"
)
BAND_FROM = (
    r"(?:band ?width|pass ?band|(?:frequency )?response|flat|带宽|通带|频响|频带)"
    r"(?= ?(?:of |from |:|为|从|是)?\s?[\d.]+[^,;。、]{0,10}(?:-|~|\bto\b|到|至))"
)
"""In front of a range of frequencies whose lower end is the lower corner."""
