"""KiCad's sheets as netlists: turned symbols, junctions, names of nets, sheets in sheets, fields."""

from __future__ import annotations

import re
import time

import pytest

from domain.circuit.kicad.netlist import Converted, netlist_of
from domain.circuit.kicad.sheet import NoSheet
from domain.circuit.kicad.values import part_value, spice_number
from tests.ground.cases import for_each


def two_pins(name: str, *, is_power: bool = False, pins: str = "") -> str:
    """A symbol of a library whose pins are 3.81 mm above and below its origin, as Device:R has them."""
    told = pins or '(pin passive line (at 0 3.81 270) (name "~") (number "1")) ' + (
        '(pin passive line (at 0 -3.81 90) (name "~") (number "2"))'
    )
    power = "(power)" if is_power else ""
    return f'(symbol "{name}" {power} (symbol "{name.partition(":")[2]}_1_1" {told}))'


def placed(name: str, reference: str, value: str, at: str, *, mirror: str = "", **fields: str) -> str:
    told = "".join(
        f'(property "{key.replace("_", ".")}" "{text}" (at 0 0 0))'
        for key, text in {"Reference": reference, "Value": value, **fields}.items()
    )
    turned = f"(mirror {mirror})" if mirror else ""
    return f'(symbol (lib_id "{name}") (at {at}) {turned} (unit 1) (uuid "{reference}") {told})'


GROUND = '(pin power_in line (at 0 0 270) (name "GND") (number "1"))'
LIBRARY = (
    two_pins("Device:R")
    + two_pins("Device:C")
    + two_pins("Simulation_SPICE:VSIN")
    + two_pins("power:GND", is_power=True, pins=GROUND)
    + two_pins("power:PWR_FLAG", is_power=True, pins=GROUND.replace("power_in", "power_out"))
    + two_pins(
        "My:AMP",
        pins='(pin input line (at -5.08 0 0) (name "IN") (number "1"))'
        '(pin output line (at 5.08 0 180) (name "OUT") (number "2"))'
        '(pin passive line (at 0 -5.08 90) (name "G") (number "3"))',
    )
)


def sheet(*items: str, key: str = "top") -> str:
    return f'(kicad_sch (version 20231120) (uuid "{key}") (lib_symbols {LIBRARY}) {" ".join(items)})'


def wire(*ends: str) -> str:
    return f"(wire (pts {' '.join(f'(xy {end})' for end in ends)}))"


def converted(text: str, **files: str) -> Converted:
    return netlist_of(text, title="x.kicad_sch", find=lambda name: files.get(name.replace(".", "_")))


def lines(found: Converted) -> list[str]:
    return found.text.splitlines()


SINE = {"Sim_Device": "V", "Sim_Type": "SIN", "Sim_Params": "dc=0 ampl=1 f=1M ac=1", "Sim_Pins": "1=+ 2=-"}
RC = sheet(
    placed("Simulation_SPICE:VSIN", "V1", "VSIN", "0 3.81 0", **SINE),
    placed("Device:R", "R1", "1M 1%", "10 0 90"),
    placed("Device:C", "C1", "4n7", "20 3.81 0"),
    placed("power:GND", "#PWR1", "GND", "0 7.62 0"),
    placed("power:GND", "#PWR2", "GND", "20 7.62 0"),
    placed("power:PWR_FLAG", "#FLG1", "PWR_FLAG", "0 0 0"),  # says that a net is driven, joins nothing
    placed("power:PWR_FLAG", "#FLG2", "PWR_FLAG", "0 7.62 0"),
    wire("0 0", "6.19 0"),
    wire("13.81 0", "20 0"),
    '(label "out put" (at 16 0 0))',
    r'(text ".ac dec 20 1 1meg\n.save all\nnot SPICE" (at 0 0 0)) (text "a comment" (at 0 0 0))',
)


def test_a_sheet_becomes_a_netlist() -> None:
    found = converted(RC)
    assert not found.missing
    assert lines(found) == [
        "* x.kicad_sch",
        "V1 Net-_R1-Pad1_ GND DC 0 SIN(0 1 1Meg) AC 1 0",
        "R1 Net-_R1-Pad1_ /out_put 1Meg",
        "C1 /out_put GND 4.7n",
        ".ac dec 20 1 1meg",
        "* not SPICE",
        ".end",
    ]
    book = '{"tabs": [{"commands": [".kicad adjustpaths", ".tran 1u 1m", ".save all"]}, 7]}'
    assert ".tran 1u 1m" in lines(converted(RC.replace(".ac dec 20 1 1meg", ".param a=1"), x_wbk=book))


@for_each(
    ("turn", "mirror", "first"),
    [
        ("0", "", "0 -3.81"), ("90", "", "-3.81 0"), ("180", "", "0 3.81"), ("270", "", "3.81 0"),
        ("0", "x", "0 3.81"), ("90", "y", "3.81 0"), ("90", "x", "-3.81 0"),
    ],
)  # fmt: skip
def test_symbols_are_turned_and_then_mirrored(turn: str, mirror: str, first: str) -> None:
    other = " ".join(f"{-float(each):g}" for each in first.split())
    text = sheet(
        placed("Device:R", "R1", "1", f"0 0 {turn}", mirror=mirror),
        f'(global_label "a" (at {first} 0)) (global_label "b" (at {other} 0))',
    )
    assert "R1 a b 1" in lines(converted(text))


def test_a_wire_is_joined_in_its_middle_by_a_junction_or_a_label_alone() -> None:
    parts = placed("Device:R", "R1", "1", "5 3.81 0") + placed("Device:R", "R2", "2", "8 3.81 0")
    text = sheet(parts, wire("0 0", "20 0"), '(label "a" (at 2 0 0))', "(junction (at 5 0))")
    found = converted(text)
    assert "R1 /a Net-_R1-Pad2_ 1" in lines(found)  # a junction
    assert "R2 Net-_R2-Pad1_ Net-_R2-Pad2_ 2" in lines(found)  # a pin alone
    assert "1 " in str(found.notes[0])
    assert "8 mm, 0 mm" in str(found.notes[0])


def test_sheets_in_sheets_are_written_out_for_each_instance() -> None:
    inner = sheet(
        '(symbol (lib_id "Device:R") (at 0 3.81 0) (unit 1) (uuid "r") (property "Reference" "R1")'
        '(property "Value" "1k") (instances (project "p" (path "/top/s1" (reference "R11") (unit 1))'
        '(path "/top/s2" (reference "R12") (unit 1)))))',
        '(hierarchical_label "IN" (at 0 0 0)) (label "mid" (at 0 7.62 0))',
        key="inner",
    )
    text = sheet(
        *(
            f'(sheet (at 0 0) (uuid "s{number}") (property "Sheetname" "Half {number}")'
            f'(property "Sheetfile" "half.kicad_sch") (pin "IN" input (at {number} 0 0)))'
            for number in (1, 2)
        ),
        wire("1 0", "2 0"),
        '(global_label "all" (at 1 0 0))',
    )
    found = converted(text, half_kicad_sch=inner)
    assert lines(found)[1:3] == ["R11 all /Half_1/mid 1k", "R12 all /Half_2/mid 1k"]
    assert "half.kicad_sch" in str(converted(text).missing[0])
    loop = text.replace("half.kicad_sch", "loop.kicad_sch")
    ended = converted(loop, loop_kicad_sch=loop)  # a sheet that holds itself comes to an end
    assert ended.missing


AMP = {"Sim_Library": "${KIPRJMOD}/amp.lib", "Sim_Name": "amp", "Sim_Pins": "1=in 2=out 3=vss"}
AMP_LIBRARY = (
    ".subckt AMP vss in out vdd params: g=1\n.ends\n.model BC546B NPN(BF=200)\n.model IRF VDMOS(Vto=3)\n"
)


def test_fields_say_what_a_part_is() -> None:
    def line(**fields: str) -> str:
        found = converted(sheet(placed("My:AMP", "Q1", "x", "0 0 0", **fields)), amp_lib=AMP_LIBRARY)
        return " | ".join(map(str, found.missing)) or " / ".join(
            each for each in lines(found)[1:] if each != ".end"
        )

    one, two, three = "Net-_Q1-IN_", "Net-_Q1-OUT_", "Net-_Q1-G_"
    assert line(**AMP, Sim_Params="g=2M") == (
        f'.include "amp.lib" / XQ1 {three} {one} {two} NC_Q1_3 amp g=2Meg'
    )
    assert "no node vcc" in line(**(AMP | {"Sim_Pins": "1=vcc"}))
    npn = AMP | {"Sim_Name": "BC546B", "Sim_Pins": "1=B 2=C 3=E"}
    assert line(**npn) == f'.include "amp.lib" / Q1 {two} {one} {three} BC546B'
    assert line(**(npn | {"Sim_Name": "IRF", "Sim_Pins": "1=G 2=D 3=S"})).endswith(
        f"MQ1 {two} {one} {three} IRF"
    )
    assert "BC999" in line(**(npn | {"Sim_Name": "BC999"}))
    assert line(
        Sim_Device="NPN", Sim_Type="GUMMELPOON", Sim_Pins="1=B 2=C 3=E", Sim_Params="bf=120 area=2"
    ) == (f"Q1 {two} {one} {three} model_Q1 area=2 / .model model_Q1 NPN(bf=120)")
    raw = {
        "Spice_Primitive": "Q",
        "Spice_Model": "BC1",
        "Spice_Lib_File": "b.lib",
        "Spice_Node_Sequence": "2,1,3",
    }
    with_underscores = converted(
        sheet(placed("My:AMP", "Q1", "x", "0 0 0") .replace("(unit 1)", "(unit 1)" + "".join(
            f'(property "{key}" "{value}")' for key, value in raw.items()
        )))
    )  # fmt: skip
    assert lines(with_underscores)[1:3] == ['.include "b.lib"', f"Q1 {two} {one} {three} BC1"]
    assert "IBIS" in line(**(AMP | {"Sim_Device": "IBIS"}))
    assert "no simulation model" in line()
    op_amp = {"Sim_Device": "SUBCKT", "Sim_Library": "${KICAD8_SYMBOL_DIR}/Simulation_SPICE.sp",
              "Sim_Name": "kicad_builtin_opamp", "Sim_Pins": "1=in+ 2=out 3=in-"}  # fmt: skip
    assert f"XQ1 {one} {three} NC_Q1_2 NC_Q1_3 {two} kicad_builtin_opamp" in line(**op_amp)
    dual = line(**(op_amp | {"Sim_Name": "kicad_builtin_opamp_dual", "Sim_Pins": "1=in1+ 2=out1 3=in1-"}))
    assert dual.count(".ends") == dual.count(".subckt") == 2


@for_each(
    ("text", "number"),
    [
        ("1M", "1Meg"), ("1m", "1m"), ("4k7", "4.7k"), ("4R7", "4.7"), ("100nF", "100n"), ("10 kΩ", "10k"),
        ("2,2u", "2.2u"), ("1e3", "1e3"), ("470R", "470"), ("abc", None), ("", None), ("1 2", None),
    ],
)  # fmt: skip
def test_numbers_of_fields(text: str, number: str | None) -> None:
    assert spice_number(text) == number


def test_values_with_ratings() -> None:
    assert [part_value(text) for text in ("10k 1%", "100n/50V", "1u X7R", "{r}", "DNP", "R")] == [
        "10k", "100n", "1u", "{r}", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "R1 a 0 1k\n", "(kicad_pcb)", "(" * 5000, '(kicad_sch (text "', "(kicad_sch))) (", "\x00", "[]"],
)
def test_what_is_no_sheet(text: str) -> None:
    if text == "(kicad_sch))) (":  # what stands behind the sheet is not looked at
        assert converted(text).text
        return
    with pytest.raises(NoSheet):
        converted(text)


def test_a_sheet_of_a_stranger_is_read_within_bounds() -> None:
    odd = sheet(
        placed("Device:R", "R1", "1", "nan inf 17"),
        "(wire) (wire (pts)) (symbol) (sheet) (label) (junction)",
        placed("Nowhere:X", "U1", "1", "0 0 0"), wire("0 0", "1e9 -1e400"),
    )  # fmt: skip
    assert converted(odd).missing
    told = converted(
        sheet(
            placed("Device:R", "R1\\n.a", "1k", "0 0 0", Sim_Device="NPN", Sim_Params='bf=\\"1\\n.b\\"'),
            placed("My:AMP", "Q\\n.c", "1\\n.d", "50 0 0", Sim_Library='x\\"\\n.e', Sim_Name="amp"),
        )
    )
    assert not [line for line in lines(told) if re.match(r"\.[a-e]\b", line)]  # a field is never a line
    digits = "9" * 5_000  # of which Python makes no number
    for fields in ({"Sim_Pins": f"1={digits} 2=1"}, {"Spice_Primitive": "X", "Spice_Node_Sequence": digits}):
        assert converted(sheet(placed("My:AMP", "U1", "amp", "0 0 0", **fields))).missing
    assert converted(sheet(placed("Device:R", "R1", "1k", "0 0 0")).replace("R_1_1", f"R_{digits}_1")).text
    assert converted(sheet(placed("Device:R", "(a+)+$", "1k", "0 0 0"))).missing  # a name is no pattern
    begun = time.process_time()
    pins = placed("My:AMP", "U1", "1", "0 0 0", Sim_Device="SUBCKT", Sim_Name="amp", Sim_Pins="<" * 300_000)
    converted(sheet(pins))
    assert time.process_time() - begun < 5  # once along the field, not from each letter: hours
    begun = time.process_time()
    many = sheet(
        *(wire(f"{at} 0", f"{at + 9} 0") for at in range(9_000)),
        *(f"(junction (at {at}.5 0))" for at in range(9_000)),
    )
    with pytest.raises(NoSheet):  # each place against each wire of one line
        converted(many)
    assert time.process_time() - begun < 30
