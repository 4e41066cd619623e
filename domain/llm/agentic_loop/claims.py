"""What an answer says was done and nobody did: a change, a run, goals that are met.

The deeds are read from the conversation's calls, not from words. Of the words only so much is read as tells a
deed that is claimed ("I changed", "R1 was replaced", "已将 R1 改为") from one that is proposed, denied, asked
about or told of the user; a clause at a time, outside code and quotations. Where something was changed, the
parts and files that a clause names have to stand in what the calls were given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.circuit.figures_in_text import figures_in
from domain.circuit.figures_in_text import plain as figures_plain
from domain.llm.agentic_loop.acts import Edits, wrong_acts
from domain.llm.agentic_loop.part_values import has_other_value
from domain.llm.agentic_loop.quantities import quantities_named, row_of
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_MOST_CLAUSES = 400
_TOLD = 5
_LONGEST = 90
"""Characters of a clause that are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeds:
    """What was really done in a conversation."""

    changes: Sequence[str] = ()
    """What the calls of the running turn were given that changed a file."""
    earlier: Sequence[str] = ()
    """The same of earlier turns."""
    has_run: bool = False
    """Something was simulated or measured in this turn, with whatever outcome."""
    has_run_earlier: bool = False
    is_measured: bool = False
    """A run or measurement is of the circuit as it is now."""
    last_failed: bool = False
    """The newest run found no result."""
    is_refused: bool = False
    """Changes were tried in this turn, and none of them came about."""
    runs: int = 0
    """How often something was simulated or measured, in all turns."""
    tried: Sequence[str] = ()
    """What the runs and measurements were given, and what they gave."""
    parts: frozenset[str] = frozenset()
    """Names of parts in the circuits that were read or written, in lower case."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Of the parts that stand in the circuit, by name in lower case."""
    missed: Sequence[str] = ()
    """Goals that the newest verdict on the circuit as it is says are missed."""
    edits: Edits = field(default_factory=Edits)
    """The values that were changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """What of an answer nothing stands behind, as it is written."""

    figures: Sequence[str] = ()
    """Those that stand in no result."""
    stale: Sequence[str] = ()
    """Those that stand only in results from before the last change of the circuit."""
    claims: Sequence[str] = ()
    """Deeds that nobody did."""
    contradicted: Sequence[str] = ()
    """Comparisons that its own figures or the results prove wrong."""
    unrun: str = ""
    """The tool of which it shows a call that was not run."""

    def __bool__(self) -> bool:
        return bool(self.figures or self.stale or self.claims or self.contradicted or self.unrun)

    @property
    def plain(self) -> dict[str, str]:
        """By their kind, to be kept with the answer."""
        kinds = {
            "figures": ", ".join(self.figures),
            "stale": ", ".join(self.stale),
            "claims": "; ".join(self.claims),
            "contradicted": "; ".join(self.contradicted),
        }
        return {kind: words for kind, words in kinds.items() if words}

    @property
    def note(self) -> str:
        """What the model is told."""
        notes = []
        if self.figures:
            notes.append(
                f"These figures of your answer stand in no result, no file and no data you were given: "
                f"{told(self.figures)}."
            )
        if self.stale:
            notes.append(
                f"These figures of your answer are from before the last change of the circuit: "
                f"{told(self.stale)}."
            )
        if self.claims:
            notes.append(
                f'Your answer says: "{told(self.claims, between="; ")}". No call of this turn did that '
                "with the circuit as it is now."
            )
        if self.contradicted:
            notes.append(
                f'Your answer says: "{told(self.contradicted, between="; ")}". The results have figures on '
                "the other side of it, or another change."
            )
        if self.unrun:
            notes.append(
                f"Your answer shows a call of {self.unrun} in its text, which was not run. Send it as "
                "a call, with nothing behind it; or answer without it."
            )
        if not self.plain:
            return " ".join(notes)
        asks = (
            "If something is still to be changed or measured, call the tool now; else answer again without "
            "it, or say of each figure that it is an estimate or from which state it is."
        )
        return " ".join([*notes, asks])


def told(words: Sequence[str], *, between: str = ", ") -> str:
    """Words for a note, at most a few."""
    more = f" and {len(words) - _TOLD} more" if len(words) > _TOLD else ""
    return between.join(words[:_TOLD]) + more


_NAMED = r"\b[RCLQMDVIXEFGHKJB][A-Z]{0,2}\d\w{0,4}\b"
_PART = rf"(?:{_NAMED}|\b(?-i:[RCL][A-Z]{{1,2}})\b)"
_FILE = r"[\w/\-]+\.(?:cir|sp|spice|net|ckt|lib|inc|mod|md|txt|csv)\b"
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (late_pattern(said, re.IGNORECASE), late_pattern(rf"(?:^|\\n|['\"\s]){given}", re.IGNORECASE))
    for said, given in (
        (r"\b(?:op-?amps?|amplifier model)\b|运放", r"(?:[XEU]\w+\s|\.include|\.lib|\.subckt)"),
        (r"\btransistors?\b|晶体管|三极管|MOS管|场效应管", r"(?:[QMJX]\w*\s|\.model)"),
        (r"\bdiodes?\b|二极管", r"(?:[DX]\w*\s|\.model)"),
        (r"\bresistors?\b|电阻", r"(?:R\w*\s|\.param)"),
        (r"\bcapacitors?\b|电容", r"(?:C\w*\s|C=|\.param)"),
        (r"\binductors?\b|电感", r"(?:L\w*\s|L=|\.param)"),
    )
)
"""Kinds of parts, and what a call that changed one was given."""
_LETTERS = late_pattern(r"\b[A-Z]{2,3}\b")
_TOKENS = late_pattern(rf"{_FILE}|{_NAMED}")
_AIM = late_pattern(
    r"\b(?:so|such|for|because|since|which|that|from|with|at|between|like|as)\b|使|以便|从而|因为|由于|以"
)
"""Behind it stands what a change is for, not what was changed."""

_DEED = (
    r"(?:changed|modified|updated|edited|replaced|rewrote|rewritten|written|wrote|saved|created|added"
    r"|removed"
    r"|deleted|renamed|moved|adjusted|increased|decreased|raised|lowered|reduced|swapped|corrected"
    r"|fixed|mended"
    r"|repaired|patched|inserted|applied|tuned|doubled|halved|resized"
    r"|widened|narrowed|enlarged|shortened|lengthened|scaled|bumped|trimmed|shrunk|upgraded|exchanged|loaded)"
)
_I = (
    r"\b(?:I|we)(?:['’]ve| have| had)?(?: (?:now|just|also|already|then|successfully|simply|therefore"
    r"|accordingly"
    r"|gone ahead and|went ahead and|first))*"
)
_CHANGED = late_pattern(
    rf"{_I} (?:{_DEED}|set|put)\b"
    rf"|^[\W_]*(?:(?:done|ok(?:ay)?|yes|sure|successfully"
    rf"|all set)\b[\W_]*)?{_DEED}\b(?=.{{0,30}}?(?:\bthe\b|{_PART}|{_FILE}))"
    rf"|(?:{_PART}|{_FILE}|`|\b(?:files?|netlists?|circuits?|values?|resistors?|capacitors?|changes?"
    rf"|edits?|schematic)\b)"
    rf".{{0,30}}?\b(?:(?:has|have) (?:now |already |successfully )?been|was|were|(?:is|are)(?: (?:now"
    rf"|already))?)"
    rf" (?:successfully )?{_DEED}\b(?! by\b| since\b| outside\b| to (?:node|ground))"
    rf"|\b(?:{_PART}|amplifier|filter|stage|oscillator|converter|regulator)\b (?:has"
    rf"|have)(?: now)? been (?:{_DEED}|set)\b(?! by\b)"
    r"|\b(?:changes?|edits?|modifications?|corrections?|fix(?:es)?|updates?)\b.{0,24}?\b(?:is|are"
    r"|has been|have been)"
    r"(?: now)? (?:done|made|applied|saved|complete|in place|in the file)"
    r"|(?<!中)(?:已经?)(?:将|把|为[您你]|按|根据|在|为|对|成功|重新)?[^，。；！？]{0,40}?(?:改|更新"
    r"|更改|替换|更换|写入|保存|创建|新建|添加|补[上充全]"
    r"|加入|加上|删除|移除|删掉|重命名|设为|设置|调整|换成|换为|修正|修复|纠正|减半|加倍|翻倍)"
    rf"|(?:{_PART}|电阻|电容|元件)[^，。；]{{0,6}}(?:已经?)(?:增大|减小|提高|降低|加大|缩小)"
    rf"|{_PART}\s?(?:也|均|都)?(?:一并|一起|也|同时)(?:被)?(?:改|换|调|减小|增大|降低|提高|加大"
    rf"|缩小)(?:到|至|为|成)"
    r"|我(?:已经?|先|又|也|还|刚刚?|就|再)*(?:把|将|对|在|给)?[^，。；]{0,24}?(?:改|更新|替换|更换|换"
    r"|写入|保存|创建|新建|添加|加|补"
    r"|删|调整|调|设|增大|减小|修正|修复)[^，。；]{0,12}?(?:了|好)"
    r"|我(?:已经?|先|又|也|还|刚刚?|就|再)*(?:把|将)[^，。；]{1,24}?(?:改|换|调|设|减小|增大|加大|提高"
    r"|降低|缩小)[到为成至]"
    r"|我(?:已经?|先|又|也|还|刚刚?|就|再)*(?:把|将)[^，。；]{1,24}?(?:改|换|调|减小|增大|加大|提高|降低"
    r"|缩小)"
    r"[^，。；]{0,6}?(?:之|以)?后"
    r"|^[\W_]*(?:改|换|调整|修改|替换|增加|删除)了"
    r"|(?:把|将)[^，。；]{1,24}?(?:改|更新|替换|更换|换|写入|保存|删|调整|调|设)[^，。；]{0,12}?(?:了"
    r"|完|好)"
    r"|(?:保存|创建|写入|删除|更新|替换|修改|添加)了[^，。；]{0,10}"
    + _FILE
    + r"|(?:修改|更新|替换|更改|调整|编辑|保存|创建|删除|写入)(?:完成|完毕|成功|好了)"
    r"|(?:改|写|换|修|调|存|删)(?:好|完)了",
    re.IGNORECASE,
)
_VARIED = late_pattern(r"\b(?:tuned|scaled|trimmed)$", re.IGNORECASE)
_PUT = late_pattern(
    rf"^(?:同时|另外|此外|并|还|也|又)*(?:把|将)\s?(?:{_PART})[^，。；,;]{{0,24}}?(?:改|换|调|设|减小"
    rf"|增大|加大|提高|降低|缩小)[到为成至]"
)
"""Where a circuit was changed, it tells of that, unless it is proposed."""
_SIM = r"(?:simulat\w*|ngspice|transient|sweeps?|monte carlo|ac (?:run|analysis)|analysis|(?:re-?)?runs?)"
_RAN = late_pattern(
    rf"{_I} (?:re-?)?(?:simulated|(?:ran|run|executed|performed|verified|tested|checked|confirmed"
    rf"|validated|proved)\b.{{0,40}}\b{_SIM})\b"
    rf"|^[\W_]*(?:(?:done|ok(?:ay)?|yes)\b[\W_]*)?(?:re-?)?(?:simulated|ran\b.{{0,20}}{_SIM})\b"
    rf"|\b{_SIM}\b.{{0,12}}?\b(?:was|were|has been|have been|is) (?:re-?)?(?:run|done|completed?"
    rf"|performed|executed|finished|repeated|carried out)\b"
    rf"|\b(?:confirmed|verified|checked|validated|proved|tested)\b.{{0,16}}\b(?:by|in|with"
    rf"|through)\b.{{0,8}}\b{_SIM}\b"
    r"|\b(?:simulation|ngspice|transient run|run|sweep)\b (?:now )?(?:has )?(?:shows|indicates|passe[sd]"
    r"|complete[sd]"
    r"|succeed(?:s|ed)|finished|confirm(?:s|ed)|verif(?:ies|ied)|prove[sd])\b"
    r"|(?:已经?|我|重新|再次|又)[^，。；]{0,8}?(?:仿真|跑|运行|测试)(?:[^，。；]{0,6}(?:了|过|后|完)|$"
    r"|验证)"
    r"|仿真(?:结果)?(?:显示|表明|可知|说明)|(?:仿真|验证|测试)(?:已经?|均|也|都)?(?:通过|完成|成功|无误"
    r"|证实|确认)"
    r"|(?:跑|做|运行|进行)(?:了|过|完)[^，。；]{0,8}仿真|经过?[^，。；]{0,6}仿真",
    re.IGNORECASE,
)
_ASKED = r"(?:goals?|requirements?|specs?|specifications?|targets?|limits?|criteria|constraints?)"
_MET = late_pattern(
    rf"\b{_ASKED}\b.{{0,24}}?\b(?:met|satisfied|fulfilled|achieved|reached|passed|within)\b"
    rf"|\b(?:meets?|met|satisf(?:y|ies|ied)|fulfil(?:l?s|led)|complies with|within)\b.{{0,24}}?\b{_ASKED}\b"
    r"|\b(?:it|everything|circuit|amplifier|filter|stage|oscillator|converter"
    r"|regulator)\b.{0,12}?\b(?:now works|works now)\b"
    r"|\b(?:and|that) (?:it|everything) works\b"
    r"|\b(?:meets|does|gives|delivers|fulfils) (?:what|all) (?:you|was|were) (?:asked?|want(?:ed)?|ordered)\b"
    r"|(?:满足|达到|符合|达成)了?[^，。；]{0,16}(?:指标|要求|目标|规格|需求)|达标"
    r"|(?:指标|要求|目标|规格)[^，。；]{0,8}?(?:满足|达到|达成|实现|通过)"
    r"|现在[^，。；]{0,8}(?:正常工作|工作正常)",
    re.IGNORECASE,
)
_PARTLY = late_pattern(
    r"[三四五六七八]项[^，。]{0,8}[一两二三四五六七]项|\b(?:only|just one|one of|all but|except)\b"
    r"|只有|仅|其中|唯一|除了?"
)
_SUCCEEDED = late_pattern(
    rf"\b(?:{_SIM}|circuit|netlist|it|\w+\.(?:cir|sp|net))\b.{{0,16}}?\b(?:(?:ran|runs|went"
    rf"|goes) (?:through|fine|cleanly)"
    r"|passe[sd]|succeed(?:s|ed)|simulates|(?:was|is) (?:a )?success\w*|ran\b(?! into| out)"
    r"|simulated (?:without|fine)|completed?|converge[sd]"
    r"|finishe[sd]|works)\b"
    r"|\b(?:problem|error|issue|convergence|fault)s?\b.{0,16}?\b(?:is|are|was|has been"
    r"|have been) (?:now )?(?:solved|fixed|resolved|gone)\b"
    r"|\bnow (?:runs|converges|simulates)\b|\b(?:runs|converges) now\b"
    r"|(?:问题|错误|故障|收敛)[^，。；]{0,8}?(?:解决|排除|消除|修复)|(?:能|可以?"
    r"|已经?)[^，。；]{0,6}?(?:跑完|跑通|收敛)"
    r"|正常(?:工作|起振|振荡|运行)|(?:工作|运行)正常|\b(?:oscillates|starts up|works)\b"
    r"|仿真[^，。；]{0,6}?(?:成功|通过|正常|顺利|完成)|(?:顺利|成功)[^，。；]{0,4}?(?:仿真|运行|收敛)",
    re.IGNORECASE,
)
_PROVES = late_pattern(
    r"\b(?:confirm|verif|prove|valid)\w*|\b(?:again|anew|afresh)\b|\bre-?(?:sim|run|ran|meas)|证实|确认"
    r"|验证|重新|再次|复测",
    re.IGNORECASE,
)
"""A run that is told of the circuit as it is now."""
_REPEATS = late_pattern(
    r"\bre-?(?:simulat|ran|run)|\bonce more\b|重新|再次|又[仿跑测]|再[仿跑测]", re.IGNORECASE
)
_EVER = late_pattern(
    r"\b(?:in every case|in all cases|always|under all|over the whole)\b|始终|任何情况|所有情况|总是",
    re.IGNORECASE,
)
"""What is said to hold everywhere."""
_TRIED = late_pattern(
    r"\b(?:verif|check|confirm|test|simulat|measur|ran|prove|validat)\w*|验证|确认|测试|测过|仿真"
    r"|跑[了过]|检查",
    re.IGNORECASE,
)
_CONDITIONS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (late_pattern(said, re.IGNORECASE), late_pattern(given, re.IGNORECASE))
    for said, given in (
        (r"\b(?:over|at (?:high|low|all)|across) temperatures?\b|高温|低温|温度范围|全温", r"temp|°C|corner"),
        (
            r"\b(?:light|full|no|heavy|different|other|all)[- ]loads?\b|轻载|满载|空载|重载|不同负载",
            r"load|\b[RI]_?L\b|负载",
        ),
        (r"\bmonte[- ]carlo\b|蒙特卡洛", r"monte"),
        (r"\bworst[- ]case\b|最坏情况", r"worst|corner|monte"),
        (
            r"\bwith \d+(?:\.\d+)? ?% (?:parts|resistors|capacitors|components)\b|\btolerances?\b|公差|容差",
            r"monte|worst|corner|toleranc",
        ),
        (r"\b(?:process|all|the) corners\b|工艺角", r"corner|\b[sft]{2}\b"),
        (
            r"\b(?:supply (?:range|variation)|(?:low|high)(?:er)? supply|supply voltages)\b"
            r"|电源波动|不同电源",
            r"vdd|vcc|supply|vin|vp\b",
        ),
    )
)  # fmt: skip
"""Under what an answer may say that it tried the circuit, and what stands in the calls that did."""
_ALL = late_pattern(r"\b(?:all|both|every|everything)\b|全部|所有|各项|均|都|两项", re.IGNORECASE)
_UNSAID = late_pattern(
    r"\b(?:not|never|cannot|unable|failed|fails|without(?! (?:any )?(?:errors?|problems?|warnings?"
    r"|trouble))|no|nothing|none|neither|nor|would|could|should"
    r"|will|shall|can|may"
    r"|might|must|if|unless|until|once|whether|by you|you (?:have |had |just )?(?:changed|edited"
    r"|modified|set|moved)"
    r"|needs?|wants?|ha(?:s|ve) to|to be|before I|in order|to (?:meet|satisfy|reach|fulfil|change|keep"
    r"|stay|get)|missed"
    r"|i'll|we'll|let me|what I|how|example|mean(?:s|t)?)\b|n['’]t\b"
    r"|没|未|尚|不|无法|无需|若|如果|假如|假设|是否|能否|建议|将会|我将|准备|打算|需|应|请"
    r"|(?<![按为给])[您你]|用户|要不要|一旦|为了|想|要(?:达|满|使|把|让|求把)"
    r"|可以[^正]|[等待][^，。；]{1,20}(?:后|再)|可(?:将|把|用|通)|例如|比如|被",
    re.IGNORECASE,
)
_SIDES = late_pattern(
    r"\b(?:below|above|under|exceed(?:s|ed)?|(?:less|more|lower|higher) than)\b"
    r"|低于|高于|超过|小于|大于|不到",
    re.IGNORECASE,
)
"""Told of what no run has measured, where the newest one failed."""
_LIMIT = late_pattern(r"\d\s?(?:[kMGmunµ]|meg)?(?P<unit>dB|Hz)(?![A-Za-z])")
_LIMIT_UNITS = ("dB", "Hz")
"""Units that only measurements have: of volts and amperes each run tells some."""
_DONE = late_pattern(
    r"^(?:all |it(?:['’]s| is) |everything(?:['’]s| is) (?:now )?)?(?:done|finished|completed?|in place)\b"
    r"|^(?:都|全部|任务|修改|更改|现在|现已|已经?)*(?:完成|搞定|处理好|改好|修好|弄好|做好)",
    re.IGNORECASE,
)
"""What was asked for is told as done, whatever it was."""
_PAST = late_pattern(
    r"\b(?:last|previous|earlier) (?:turn|time|answer|message|step)|\bearlier\b|\bpreviously\b|\bbefore\b"
    r"|上一?[轮次]|之前|先前|刚才|此前|前面",
    re.IGNORECASE,
)
_SHOWN = late_pattern(r"\b(?:below|above|following|here)\b|如下|下面|以下|上面|下方", re.IGNORECASE)
_CODE = late_pattern(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)", re.DOTALL)
_ASIDE = late_pattern(r"“[^”\n]{0,200}”|「[^」\n]{0,200}」|\"[^\"\n]{0,200}\"|^[ \t]*>[^\n]*$", re.MULTILINE)
_SENTENCE = late_pattern(r"[^.!?。！？\n]*(?:\.(?=\w)[^.!?。！？\n]*)*(?P<end>[.!?。！？\n]|\Z)")
_CLAUSE = late_pattern(
    r"[,，;；:：—]|\b(?:and|but|while|although)\b|(?:(?<!一)并且?|而且?|但是?|同时)", re.IGNORECASE
)


def unmade_claims(text: str, deeds: Deeds, measured: Sequence[str] | None = None) -> tuple[str, ...]:
    """The clauses of an answer that claim what was not done, as they are written; () for none.

    `measured`: what was measured of the circuit as it is now. A limit in a unit that stands nowhere in it
    was not shown to be met.
    """
    has_unit: set[str] | None = None
    if measured is not None and deeds.last_failed:
        has_unit = {figure.unit for each in measured for figure in figures_in(each[:_MOST_READ])}
    units = {unit for unit in _LIMIT_UNITS if measured is not None and not any(unit in e for e in measured)}
    has_block = "```" in text or "~~~" in text
    plain = _ASIDE.sub(" ", _CODE.sub("\n", text[:_MOST_READ])).replace("`", "").replace("**", "")
    found = [
        clause[:_LONGEST]
        for clause, sentence in _clauses(plain)
        # Of a study, or of a plan, where a part has a value that the circuit does not have.
        if not (_MET.search(clause) and has_other_value(sentence, deeds.values))
        and (
            _is_unmade(clause, deeds, is_shown=has_block and bool(_SHOWN.search(clause)))
            or (_MET.search(clause) and any(each["unit"] in units for each in _LIMIT.finditer(clause)))
            or (
                has_unit is not None
                and _SIDES.search(clause)
                and any(each.unit not in has_unit for each in figures_in(clause))
            )
        )
    ]
    found += wrong_acts(figures_plain(plain), deeds.edits)
    return tuple(dict.fromkeys(found))


def _clauses(plain: str) -> Iterator[tuple[str, str]]:
    """The clauses that propose nothing, each with its sentence."""
    count = 0
    for sentence in _SENTENCE.finditer(plain):
        if sentence["end"] in ("?", "？") or not sentence[0].strip():
            continue
        at, subject, is_proposed, changed = 0, "", False, False
        text = sentence[0].rstrip(".!。！\n")
        for mark in [*_CLAUSE.finditer(text), None]:
            clause = text[at : mark.start() if mark else len(text)].strip()
            at = mark.end() if mark else at
            said = f"{subject} {clause}".strip() if subject and _GOES_ON.match(clause) else clause
            if subject and changed and _SO_TOO.match(clause):  # "I changed R1 to 1k and R2 to 2k"
                said = f"{subject} changed {clause}"
            is_proposed = bool(_UNSAID.search(clause) or (is_proposed and _THEN.match(clause)))
            if said and not is_proposed:
                count += 1
                yield said, text
            if count >= _MOST_CLAUSES:
                return
            changed = _CHANGED.search(said) is not None
            begins = _SUBJECT.match(said)
            subject = begins[0] if begins and not is_proposed else subject


_SO_TOO = late_pattern(
    rf"{_NAMED}(?: (?:to|and|or|through) {_NAMED})? (?:to|by|with)\b"
    rf"|(?:also )?(?:an?|the) (?:[\w-]+ ){{0,5}}{_FILE}$"
)
_SUBJECT = late_pattern(r"^(?:I|we)(?:['’]ve| have)?\b|^我(?:已经?)?", re.IGNORECASE)
_TELLS = late_pattern(r"\b(?:confirm|verif|prove|pass)\w*|证实|确认|通过", re.IGNORECASE)
"""A run that is told of, whoever made it."""
_THEN = late_pattern(r"^(?:and )?then\b|^(?:然后|接着|随后|再)", re.IGNORECASE)
_GOES_ON = late_pattern(
    rf"^(?:(?:also|then|now|afterwards) )?(?:{_DEED}|(?:re-?)?simulated|ran)\b|^(?:也|又|再|还)?(?:把"
    rf"|将|保存|重新)",
    re.IGNORECASE,
)


def told_of_before(text: str) -> int:
    """Where the passage before the first change that an answer claims ends: it may tell of the old state.

    0 where it claims none, or begins with it.
    """
    changes = [
        *(found.start() for found in _CHANGED.finditer(text) if not _UNSAID.search(found[0])),
        *(found.start() for found in _CHANGED_SO.finditer(text)),
    ]
    changed = min(changes, default=0)
    return max((found.end() for found in _PASSAGE_END.finditer(text, 0, changed)), default=0)


_CHANGED_SO = late_pattern(
    r"\bwith (?:\w{1,8} ?=|[a-z]{1,3}\d\w{0,4} (?:at|set to|changed to|raised to|lowered to)\b)"
    r"|[把将] ?[a-z]\w{0,6} ?[^，。；,;\n]{0,16}?[改换调增减提降]\w{0,2}[为成到至]",
    re.IGNORECASE,
)
"""What an answer begins to tell of the circuit as it is with: "with R1 = 150 kΩ", 把 R1 改为 …后."""
_PASSAGE_END = late_pattern(r"[。！!？?；;\n]|\.(?=\s)")


def _is_unmade(clause: str, deeds: Deeds, *, is_shown: bool) -> bool:
    if (_TRIED.search(clause) or _EVER.search(clause)) and any(
        said.search(clause) and not any(given.search(each) for each in deeds.tried)
        for said, given in _CONDITIONS
    ):
        return True
    if _MET.search(clause):
        is_of_all = _ALL.search(clause) is not None and not _PARTLY.search(clause)
        named = quantities_named(clause)
        is_of_all = is_of_all and not (named and named.isdisjoint(map(row_of, deeds.missed)))
        return not deeds.is_measured or deeds.last_failed or (bool(deeds.missed) and is_of_all)
    if (deeds.last_failed and _SUCCEEDED.search(clause)) or (deeds.is_refused and _DONE.search(clause)):
        return True
    if (found := _CHANGED.search(clause)) is not None:
        # What is varied in a study is written nowhere.
        is_of_study = _VARIED.search(found[0]) and any("'kind': '" in each for each in deeds.tried)
        return not is_of_study and not _is_changed(clause, found, deeds, is_shown=is_shown)
    if deeds.changes and not is_shown and (found := _PUT.search(clause)) is not None:
        return not _is_changed(clause, found, deeds, is_shown=is_shown)
    return _RAN.search(clause) is not None and not _is_run(clause, deeds)


def _is_run(clause: str, deeds: Deeds) -> bool:
    if _REPEATS.search(clause) and deeds.runs < 2 and not deeds.changes:  # a changed circuit is run anew
        return False
    if deeds.is_measured and _TELLS.search(clause):
        return True
    if deeds.changes and not deeds.is_measured and _PROVES.search(clause):
        return False
    return deeds.has_run or (
        deeds.has_run_earlier and (deeds.is_measured or _PAST.search(clause) is not None)
    )


def _is_changed(clause: str, found: re.Match[str], deeds: Deeds, *, is_shown: bool) -> bool:
    objects = clause[: found.start()] + _AIM.split(clause[found.start() :])[0]
    names = {name.lower() for name in _TOKENS.findall(objects)}
    if (
        deeds.changes
        and not deeds.earlier
        and any(
            said.search(objects) and not any(given.search(each) for each in deeds.changes)
            for said, given in _KINDS
        )
    ):
        return False
    names |= {name.lower() for name in _LETTERS.findall(objects)} & deeds.parts
    given = "\n".join((*deeds.changes, *deeds.earlier)).lower().replace("\\n", "\n")
    if not names:
        # Of earlier turns it may tell again, in words that say so.
        return bool(deeds.changes or is_shown or (deeds.earlier and _PAST.search(clause)))
    if is_shown and not any("." in name for name in names):
        return True
    return all(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", given) for name in names)
