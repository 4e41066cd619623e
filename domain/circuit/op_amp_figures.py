"""Gain-bandwidth products and slew rates of well-known op-amps: the typical values of their data sheets."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class OpAmpFigures(NamedTuple):
    """What a data sheet says of an op-amp's speed."""

    gbw_mhz: float
    slew_v_per_us: float


def figures_of(name: str) -> OpAmpFigures | None:
    """Of the op-amp called `name`, whatever letters stand behind; None for one that is not listed."""
    for pattern, figures in _rows():
        if pattern.match(name):
            return figures
    return None


@cache
def _rows() -> tuple[tuple[re.Pattern[str], OpAmpFigures], ...]:
    rows = []
    for line in _TABLE.split():
        names, gbw, slew = line.rsplit(":", 2)
        figures = OpAmpFigures(float(gbw), float(slew))
        rows.append((re.compile(rf"(?:{names})(?!\d)", re.IGNORECASE), figures))
    return tuple(rows)


_TABLE = r"""
    (?:LM|UA)741:1:0.5 LM(?:124|158|224|258|324|358|2902|2904):1:0.4 (?:LM|MC)1458:1:0.5
    LM318:15:70 LM833:15:7 LM4562:55:20 LM6171:100:3600 LM7171:200:4100 LM7301:4:1.25
    TL06\d:1:3.5 TL07\dH:5.25:20 TL0[78]\d:3:13 TLE2\d+:2:0.9 TLC27\d:1.7:3.6 TLC227\d:2.2:3.6 TLV237\d:3:2.4
    TLV6001:1:0.5 TLV900\d:1:2 TLV906\d:10:6.5 TLV915\d:5:20 TLV935\d:3.5:20
    LF(?:347|351|353):4:13 LF356:5:12 LF357:20:50 LF355:2.5:5 LF41[12]:4:15
    NE5532:10:9 NE5534:10:13 MC3307[89]:16:7 MC3407\d:4.5:10
    NJM4558:3:1 NJM4580:15:5 NJM2068:27:6 NJM2114:13:15
    OP(?:07|77|177):0.6:0.3 OP27:8:2.8 OP37:63:17 OP(?:184|284|484):3.25:2.4 OP(?:113|213|413):3.4:1.2
    OP(?:191|291|491):3:0.5 OP(?:196|296|496):0.45:0.3 OP2?177:1.3:0.7 OP275:9:22
    OPA2?134:8:20 OPA4134:8:20 OPA[24]?604:20:25 OPA[24]?227:8:2.3 OPA[24]?228:33:10 OPA[24]?277:1:0.8
    OPA161[12]:40:27 OPA164[124]:11:20 OPA165[24]:18:10 OPA16(?:78|79):16:9 OPA[24]?188:2:0.8
    OPA[24]?192:10:20 OPA[24]?333:0.35:0.16 OPA[24]?340:5.5:6 OPA[24]?344:1:0.8 OPA[24]?350:38:22
    OPA[24]?365:50:25 OPA[24]?376:5.5:2 OPA656:230:290 OPA657:1600:700 OPA[24]?827:22:28
    AD71[123]:4:20 AD74[48]:13:75 AD797:110:20 AD82[024]:1.8:3 AD823:16:22 AD8031:80:30 AD806[56]:145:180
    AD851[023]:8:20 AD854[124]:1:0.92 AD855[124]:1.5:0.4 AD857[124]:1.5:0.4 AD860[568]:10:5
    AD860[124]:8.2:6 AD86[12]0:25:60 AD862[89]:2.5:1 AD8638:1.5:2.5 AD8655:28:11 AD867[124]:10:4 AD8675:10:2.5
    ADA4000:5:20 ADA4077-?\d?:4:1.2 ADA4522-?\d?:2.7:1.7 ADA4528-?\d?:4:0.5
    LT1001:0.8:0.25 LT1006:1:0.4 LT1007:8:2.5 LT1008:0.8:0.2 LT1012:0.8:0.2 LT101[34]:0.8:0.4 LT1022:8.5:26
    LT1028:75:15 LT1037:60:15 LT1055:5:13 LT1056:5.5:16 LT105[78]:5:14 LT107[789]:0.2:0.07 LT1097:0.7:0.2
    LT1112:0.75:0.3 LT1113:5.6:4.2 LT1115:70:15 LT1122:14:80 LT112[45]:12.5:4.5 LT112[67]:65:11 LT1128:20:6
    LT1169:5.3:4.2 LT1208:45:400 LT121[34]:28:12 LT121[56]:23:50 LT1220:45:250 LT1224:45:400 LT135[123]:3:200
    LT135[456]:12:400 LT135[789]:25:600 LT136[012]:50:800 LT136[345]:70:1000 LT1366:0.4:0.13 LT1413:0.95:0.4
    LT1468:90:22 LT149[01]:0.2:0.07 LT149[23]:5:3 LT149[89]:10.5:6 LT163[01]:30:10 LT163[23]:45:45
    LT163[89]:1.2:0.4 LT1637:1.1:0.4 LT1677:7.2:2.5 LT1722:200:70 LT1784:2.5:2.1 LT1792:5.6:3.4
    LT180[01]:80:25 LT1803:85:100 LT180[67]:325:140 LT1809:180:350 LT1812:100:750 LT181[89]:400:2500
    LT1881:1:0.4 LT1884:2.2:1 LT6200:165:50 LT620[234]:100:25 LT6220:60:20 LT6230:215:70 LT6233:60:17
    LTC105[01]:2.5:4 LTC1052:1.2:4 LTC1150:2.5:3 LTC2050:3:2 LTC205[24]:3:2 LTC2057:1.5:0.45
    LTC624[01]:18:10 LTC6244:50:40 LTC6268:500:400
    MCP600[124]:1:0.6 MCP60[2-4]:2.8:2.3 MCP602\d:10:7 LMV3(?:21|24|58):1:1 CA3130:15:10 CA3140:4.5:9
"""
"""Names (as a pattern that no digit follows), MHz, V/us."""
