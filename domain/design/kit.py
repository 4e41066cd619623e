"""What a family file is written with: what it declares and reads, how it sizes, says and draws."""

from domain.circuit.figures import told_apart, with_unit
from domain.circuit.preferred_values import SeriesName, at_least, at_most, best_pair, nearest, values_between
from domain.design.deck import Deck, spice
from domain.design.engine.conversion import INPUT, OUTPUT, is_bare_conversion, is_linked, read_conversion
from domain.design.engine.declaration import (
    DERIVED,
    LOAD,
    STATED,
    TOLERANCE,
    Bounds,
    Choice,
    Correction,
    Family,
    GoalRow,
    Option,
    Quantity,
    Request,
    Said,
    Sized,
    Words,
    around,
)  # fmt: skip
from domain.design.engine.reading import number, read_quantities, refuse_beyond, refuse_doubled
from domain.design.engine.wording import assumed, beyond, missing, unreachable
from domain.design.sentence import Mention, Sentence, read_sentence, within_measure
from domain.design.understanding import Filled, Slot, fill_slots, impossible, left_out, missing_goal
from domain.simulation.goals import DesignGoal

__all__ = [
    "DERIVED", "INPUT", "LOAD", "OUTPUT", "STATED", "TOLERANCE", "Bounds", "Choice", "Correction", "Deck",
    "DesignGoal", "Family", "Filled", "GoalRow", "Mention", "Option", "Quantity", "Request", "Said",
    "Sentence", "SeriesName", "Sized", "Slot", "Words", "around", "assumed", "at_least", "at_most",
    "best_pair", "beyond", "fill_slots", "impossible", "is_bare_conversion", "is_linked", "left_out",
    "missing", "missing_goal", "nearest", "number", "read_conversion", "read_quantities", "read_sentence",
    "refuse_beyond", "refuse_doubled", "spice", "told_apart", "unreachable", "values_between", "with_unit",
    "within_measure",
]  # fmt: skip
