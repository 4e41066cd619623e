"""What a sentence asks of the built-in model: one of a few commands, in English or Chinese, or a design.

Only plain forms are understood, by patterns. What fits none is handed on as a design request, and what is
no design either is said not to be understood: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from domain.design.sentence import LONGEST_REQUEST
from infrastructure.llm_adapters.builtin.command import (
    Analyze,
    Change,
    Command,
    Delete,
    Design,
    Language,
    ListFiles,
    Measure,
    References,
    Search,
    Several,
    Show,
    Simulate,
    SmallTalk,
    Unclear,
)
from infrastructure.llm_adapters.builtin.coverage import foreign, left_out, respelt, strangers, unmeasured
from infrastructure.llm_adapters.builtin.figures import FIGURES, number
from infrastructure.llm_adapters.builtin.file_names import CHINESE_FILE, take_file
from infrastructure.llm_adapters.builtin.numbered_runs import question_of_runs
from infrastructure.llm_adapters.builtin.questions import (
    band_of,
    conditions_in,
    figures_of,
    follow_up,
    holds_nothing,
    nearest_question,
    plain_expressions,
    says_nothing,
    understand_question,
    without_courtesies,
)
from infrastructure.llm_adapters.builtin.reading import Ask
from infrastructure.llm_adapters.builtin.values import (
    ASSIGNMENT,
    BARE_CHANGE,
    DIRECT,
    FIGURES_BY_NAME,
    NUMBER,
    PREFIX,
    PREFIXES,
    SYMBOLS,
    UNIT,
    changes_in,
    spice_value,
)
from infrastructure.llm_adapters.builtin.words import (
    ADVICE,
    ANY_CASE,
    BY_KIND,
    CHANGES,
    CLAUSES,
    EXPLAIN,
    OF_LETTER,
    ORDERED,
    PARTS,
    QUESTION,
    TIMES_NOW,
    WATCHED,
)
from shared.errors import CircuitError
from shared.message import Message, msg

__all__ = [
    "Analyze",
    "Change",
    "Command",
    "Delete",
    "Design",
    "ListFiles",
    "Measure",
    "References",
    "Search",
    "Several",
    "Show",
    "Simulate",
    "SmallTalk",
    "Unclear",
    "abilities",
    "find_expressions",
    "language_of",
    "understand_command",
]


def abilities() -> Message:
    from domain.design.catalogue import abilities as designed_circuits  # the families: only who tells of them

    return msg(
        "I am the built-in designer, not a language model: I follow plain commands. From one sentence "
        "I design {circuits}. I also simulate a circuit; change a value (“set R1 to 2k in amp.cir and "
        "simulate”); measure (“measure bandwidth(v(out)) of amp.cir”); list, show, search, analyze and "
        "delete files. For anything else choose a language model: below the message box in the window, "
        "or with `providers` on the command line.",
        circuits=designed_circuits(),
    )


_CHINESE = re.compile(r"[\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_DESIGN = re.compile(
    r"^(?:please |now |can you |could you |i (?:need|want)(?: you to)? ?|help me ?|let'?s )*"
    r"(?:design|build|make|create|generate|size|synthesi[sz]e)\b|\bi (?:need|want|would like) an?\b"
    r"|设计|(?:做|搭|来|要|生成)一?[个款]",
    ANY_CASE,
)
_QUESTION = re.compile(
    r"[?？]\s*$|^(?:why|how|what|when|which|who|is|are|does|do|explain|tell me)\b"
    r"|^(?:为什么|为何|怎么|怎样|什么|解释)",
    ANY_CASE,
)
_NEEDED = re.compile(r"^(?:do|would) (?:i|we) (?:really )?need\b|\blook(?:ing)? for\b|\bsearch\b", ANY_CASE)
"""Asks for a part, not for a circuit."""
_HYPOTHESIS = re.compile(
    r"\bwhat (?:if|happens|would)\b|\bwould happen\b|\bsuppose\b|\bsurviv\w+\b|\b(?:sags?|droops?|dips?)\b|"
    r"\bstill (?:work|ok|okay|fine|good|alright)\b|如果|假如|假设|要是|的话|还(?:能|会|够|行|正常)|"
    r"(?:分别|各)(?:怎么|如何|会)变|能省|会(?:怎么?样|变|不会|是多少|有多|降|升|掉|饱和)",
    ANY_CASE,
)
"""Something is to be tried, not to be changed."""
_NO_SIMULATION = re.compile(
    r"(?:\bdon'?t|\bdo not|\bwithout|\bno|不要|不用|不必|别|无需)\s*"
    r"(?:re-?)?(?:simulat\w*|run\w*|仿真|模拟|运行)",
    ANY_CASE,
)
_NEGATION = re.compile(r"\b(?:don'?t|do not|never|stop)\b|不要|不用|不必|请勿|别(?!的|人)|无需", ANY_CASE)
_CHANGE = re.compile(
    r"\b(?:change|set|make|modify|update|adjust|increase|decrease|raise|lower|reduce|put|replace|bump|drop|bring|crank|"
    r"take|push|turn|swap)\b|[-=]>|→"
    r"|改|设[为成置]|[给加弄]到|调[成到为整]|换成|变成|增大|减小|提高|降[到低]",
    ANY_CASE,
)
_OTHER_RUN = "".join(
    rf"(?<!{word} )"
    for word in (
        "last",
        "previous",
        "earlier",
        "the",
        "that",
        "this",
        "two",
        "first",
        "newest",
        "latest",
        "old",
    )
)
_OFF_A_SUPPLY = r"(?!\s+(?:(?:this|it|the circuit)\s+)?(?:off|from|on)\s)"
"""Behind "run": not "run this off 9 V"."""
_SIMULATE = re.compile(
    rf"\b(?:re-?)?simulat\w*|{_OTHER_RUN}\b(?:re-?)?run\b(?! (?:at|if|when|hot)\b){_OFF_A_SUPPLY}"
    r"|仿真(?!步长|结果|精度|时间|模型)|模拟|运行|[跑仿][一个下遍]|[再重新](?:跑|仿)",
    ANY_CASE,
)
_ANALYSES: Sequence[tuple[str, str]] = (
    ("op", r"operating point|静态工作点|工作点"),
    ("tran", r"transient|\btran\b|瞬态"),
    ("noise", r"\bnoise\b|噪声"),
    ("dc", r"\bdc sweep|\bdc\b|直流"),
    ("ac", r"frequency(?: response)?|\bac\b|交流|频率(?:响应)?"),
)
_ANALYSIS_WORD = r"\s*(?:analys[ie]s|simulation|run|sweep|分析|仿真|扫描)"
_DELETE = re.compile(
    r"\s*(?:(?:please|now|can you|could you)\s+)*(?:delete|remove|erase)\s*(?:the\s+)?"
    r"(?:(?:file|circuit|netlist)\s*)?(?:from (?:the|this|my) project\s*)?(?:please|now|for me)?[\s.,!?]*"
    r"|\s*请?\s*(?:帮我)?\s*[把将]?\s*(?:文件|电路)?\s*(?:删除|删掉|移除)\s*(?:掉|了)?\s*(?:文件|电路|吧)?[\s。！]*",
    ANY_CASE,
)
"""The whole sentence without its files: “remove R1 from a.cir” is another wish."""
_AND = re.compile(r"\s*(?:,?\s*\band\b|[,，、和与及])\s*", ANY_CASE)
_STOP = re.compile(
    r"(?:for|to|until|till|up to|到|至|时间.{0,4}?|长|跑|仿真|simulate|transient)\s*(?:about|大约|约)?\s*"
    rf"(?P<number>{NUMBER})\s?(?P<prefix>[mnuµμ毫微纳]?)(?:s(?:ec(?:ond)?s?)?(?![a-z])|秒)",
    ANY_CASE,
)
_MEASURE = re.compile(
    r"\b(?:measure|evaluate|calculate|compute|what(?:'s| is| are)|how (?:much|large|high|big|fast|wide))\b"
    r"|测量|测一?下|多少|求|计算|量一下",
    ANY_CASE,
)
_ANOTHER_VALUE = re.compile(
    r"(?:ok(?:ay)?,? |and |now |then |try |again |with |to |it |once more ){1,4}"
    r"(?P<value>\S+(?: ?[a-zA-ZµμΩ]+)?)[\s.!?]*"
    rf"|(?:那么?|再|换成?|试试|改用|改成|试一?下|用|看看|取)+\s*(?P<other>{NUMBER}\s?{PREFIX}?\s?{UNIT}?)\s*(?:呢|试试|看看|吧)?[\s。！？?]*",
    ANY_CASE,
)
_FUNCTION_START = re.compile(r"(?<![\w.])[A-Za-z_][A-Za-z0-9_]*\(|@[A-Za-z]\w*\[")
_REFERENCES = (
    re.compile(
        r"\bwhere (?:is|are|do we use|does(?!.*\b(?:go|come from|lost|roll|fall|drop|land)\b))\s+"
        r"(?:the\s+)?(?!(?:it|this|that|i|my)\b)"
        r"[`\"']?([\w.@#+-]+)[`\"']?",
        ANY_CASE,
    ),
    re.compile(r"\b(?:references?|uses|usages?) (?:to|of)\s+[`\"']?([\w.@#+-]+)", ANY_CASE),
    re.compile(r"\bwho uses\s+[`\"']?([\w.@#+-]+)", ANY_CASE),
    re.compile(r"([A-Za-z][A-Za-z0-9_.]*)\s*(?:在|用在|被用在)(?:了?哪|什么地方)"),
    re.compile(r"哪[里些]地?方?(?:用到了?|使用了?|引用了?|用了)\s*([A-Za-z][A-Za-z0-9_.]*)"),
    re.compile(r"(?:查找|找)?\s*([A-Za-z][A-Za-z0-9_.]*)\s*的(?:所有)?引用"),
)
_ANALYZE = re.compile(
    r"\banaly[sz]e\b|\boutline\b|\bstructure\b|\bexplain\b|\bsummar\w+|分析|结构|概览|大纲|解释", ANY_CASE
)
_CHECK = re.compile(
    r"(?:please |can you |could you )?check(?: over| through)?\s*"
    r"(?:for (?:any )?(?:errors|problems|mistakes))?|"
    r"(?:any |are there (?:any )?)?(?:errors|problems|mistakes) in|"
    r"(?:请|帮我|麻烦)*(?:检查|查)(?:一下|下|一遍)?(?:.{0,4}(?:错误?|问题))?|"
    r"(?:里|中)?有(?:没有|什么|哪些)?(?:错误?|问题)吗?",
    ANY_CASE,
)
_OUTLINE = re.compile(r"\boutline\b|\bstructure\b|结构|概览|大纲", ANY_CASE)
_OF_ONE = re.compile(
    r"\b(?:the|my|this|its?|these|those)\b|这个|我的|当前|该电路|把|将|这里|^(?:扫描|比较|对比)", ANY_CASE
)
"""Speaks of a circuit that is there."""
_ONLY_NODE = re.compile(r"^[^()]*\bv\(\s*[\w.+-]+\s*(?:,\s*[\w.+-]+\s*)?\)[^()]*$", ANY_CASE)
"""A node's voltage alone: a question about the circuit, no expression to be measured."""
_CARDS_ONLY = re.compile(
    rf"{_OTHER_RUN}\b(?:simulate|run)\b(?! (?:(?:it|this) )?(?:at|if|when|hot)\b)"
    rf"(?!.*\b(?:monte|worst|sweep|yield|sensitiv|corners?\b|pvt|toleranc)){_OFF_A_SUPPLY}"
    r"|^(?:请)?(?:仿真|运行|跑)"
    r"(?!.*(?:蒙特卡|工艺角|角仿真|PVT|corner|最坏|最差|良率|灵敏度|扫描|报错|失败|不收敛|出错))"
    r"|\bmeasure [\w.]+\(",
    ANY_CASE,
)
_LIST = re.compile(
    r"\b(?:list|show|what|which)\b.*\b(?:files|circuits|netlists|folder|project)\b|^\s*(?:ls|dir|list)\s*$"
    r"|列出.*(?:文件|电路|网表)|(?:有哪些|有什么|哪几个).*(?:文件|电路|网表)|文件列表|项目结构|项目里有",
    ANY_CASE,
)
_SHOW = re.compile(
    r"\b(?:show|read|open|display|print|cat|view|see)\b|看[看一下]|显示|读取|读[一下]|打开|查看|内容",
    ANY_CASE,
)
_LINES = re.compile(r"(?:lines?\s*|第\s*)(\d+)(?:\s*(?:-|to|到|至|~)\s*第?\s*(\d+))?", ANY_CASE)
_SEARCH = re.compile(
    r"(?:\b(?:search(?: the project| all files)?|find|grep|look(?=\s+for))\b(?:\s+for\b)?"
    r"|搜索一?下?|搜一?下?|查找|寻找|找一?[下找]?)\s*(.+)",
    ANY_CASE | re.DOTALL,
)
_SEARCH_TAIL = re.compile(
    r"\s*(?:\b(?:in|across|within)\b(?: the| all| my)* (?:project|files?|circuits?|folder)|[。？?.!！]+)\s*$",
    ANY_CASE,
)
_QUOTED = re.compile(r"[\"“「`]([^\"”」`]+)[\"”」`]|'([^']+)'")
_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|你好|您好|嗨|哈喽|早上好|下午好|晚上好)"
    r"(?: there| again)?",
    ANY_CASE,
)
_THANKS = re.compile(
    r"(?:thanks?(?: you)?|thx|cheers|great|ok(?:ay)?|perfect|very good|谢谢你?|多谢|好的?|很好|太好了)"
    r"(?:,? (?:thanks?(?: you)?|a lot|very much|so much))?|(?:bye|goodbye|再见)",
    ANY_CASE,
)
_FAMILIES = re.compile(
    r"(?:what|which(?: circuits)?)(?: kinds? of)?(?: circuits)? can (?:you|i) design"
    r"|你?(?:能|会|可以)设计(?:什么|哪些|哪几种)(?:样的)?(?:电路)?",
    ANY_CASE,
)
_HELP = re.compile(
    r"(?:(?:hi|hello|hey|你好|您好)[,，!！ ]*)?"
    r"(?:help|\?|帮助|what can you do|who are you|what are you|你能做什么|你会(?:做)?什么|你是谁|怎么用)"
    r"(?: here| for me)?",
    ANY_CASE,
)


_STEP_CARD = re.compile(
    r"(?<!\S)\.(?:step(?:\s+param)?|dc)\s+(?P<name>[A-Za-z]\w*)\s+(?P<low>[-\d.]+\w*)\s+(?P<high>[-\d.]+\w*)\s+(?P<step>[\d.]+\w*)",
    ANY_CASE,
)
"""A sweep as a card of SPICE has it."""
_AC_CARD = re.compile(
    r"(?<!\S)\.ac\s+dec\s+(?P<points>\d+)\s+(?P<low>[\d.]+\w*)\s+(?P<high>[\d.]+\w*)", ANY_CASE
)


def language_of(text: str) -> Language:
    """Chinese as soon as one Chinese character stands there, names of files apart."""
    text = text[:LONGEST_REQUEST]
    words = CHINESE_FILE.sub("", text)
    return "zh" if _CHINESE.search(words if _LETTER.search(words) else text) else "en"


def understand_command(text: str, known_files: Sequence[str], previous: Command | None = None) -> Command:
    """What the user's sentence asks for; `known_files` are the project's, to find their names as they are.

    `previous`: the command before, on which this one may lean ("and at 100 kHz?"). What is longer than any
    sentence is handed on unread, and refused as a design request of that length is.
    """
    if len(text) > LONGEST_REQUEST:
        return Design(text=text, is_meant=True)
    text = _AC_CARD.sub(r"ac analysis from \g<low> Hz to \g<high>, \g<points> points", text)
    sentence = _STEP_CARD.sub(
        r"sweep \g<name> from \g<low> to \g<high> in steps of \g<step>", " ".join(text.split())
    )
    bare = sentence.strip(" .!?。！？,，~～")
    if small_talk := _small_talk(bare or sentence):
        return small_talk
    sentence = respelt(sentence)
    file, rest = take_file(without_courtesies(sentence), known_files)
    if isinstance(previous, Several):
        previous = previous.commands[-1]
    is_of_runs = bool(known_files or file) and question_of_runs(rest, file) is not None
    if (
        previous is not None
        and not is_of_runs
        and (leaning := _leaning(sentence, file, rest, previous, known_files))
    ):
        return leaning
    whole = _whole(sentence, text, file, rest, known_files)
    command = (None if is_of_runs else _several(whole, file, rest, known_files)) or whole
    if isinstance(command, Design) and not command.is_meant:
        nearest = _in_part(file, rest, known_files) or nearest_question(rest, file, known_files)
        if nearest is not None and (_asks(rest) or not _is_named(sentence)):
            command = nearest
    return _accounted(command, rest)


_WRITES = frozenset({"tune", "set_goal", "swap", "stimulus"})
_NOT_OF_WORDS = frozenset({"undo", "find_part", "count", "failure", "check_goals", "role"})
"""Intents whose answer hangs on no quantity, figure or part of the sentence."""


def _accounted(command: Command, text: str) -> Command:  # noqa: PLR0911 - one a reason
    """The command where all of the sentence is accounted for by it.

    Else nothing that writes is done, and a question is answered with what was left out.
    """
    asks, values = _readings(command)
    if isinstance(command, Simulate) and (terms := unmeasured(text, asks)):
        return Unclear(parts=terms, why="unmeasured")
    is_asked = isinstance(command, References) or (
        isinstance(command, Design) and not command.is_meant and _asks(command.text)
    )
    if is_asked or any(ask.intent not in _NOT_OF_WORDS or ask.is_nearest for ask in asks):
        if terms := unmeasured(text, asks):
            return Unclear(parts=terms, why="unmeasured")
        if asks and (words := strangers(text)):
            return Unclear(parts=words)
    if isinstance(command, Design) and _is_vague(text, is_meant=command.is_meant):
        return Unclear(parts=(), why="vague")
    if impossible := tuple(_aim_told(text, ask) for ask in asks if _is_impossible(ask)):
        return Unclear(parts=impossible)
    if senseless := tuple(f"{name} = {value}" for name, value in values if _is_senseless(name, value)):
        return Unclear(parts=senseless)
    asks = tuple(ask for ask in asks if ask.intent not in _NOT_OF_WORDS)
    is_told = isinstance(command, Simulate) and bool(command.expressions)  # as it is written
    is_told = is_told or any(ask.unanswered or ask.is_nearest for ask in asks)
    is_run = isinstance(command, Simulate)
    left = left_out(text, asks, values) if (asks or values or is_run) and not is_told else ()
    if left and (values or is_run or any(ask.intent in _WRITES and ask.writes for ask in asks)):
        return Unclear(parts=left)
    return _answered_without(command, left) if left else command


def _is_impossible(ask: Ask) -> bool:
    """Whether a figure that is never below nothing is to be: "a cut-off of minus 3 kHz"."""
    is_aim = ask.intent in ("tune", "set_goal") and ask.value is not None and not ask.is_change
    return is_aim and (ask.value or 0.0) < 0 and FIGURES[ask.figures[0]].unit in ("Hz", "s", "Ohm", "1", "")


def _aim_told(text: str, ask: Ask) -> str:
    return next(
        (found[0] for found in re.finditer(r"(?:minus |负|-)\s*[\d.]+\s*\w*", text)), f"{ask.value:g}"
    )


def _is_senseless(name: str, value: str) -> bool:
    """Whether a resistor, capacitor or inductor is to have less than nothing."""
    return name[0].lower() in "rcl" and "." not in name and value.startswith("-")


_IMPROVES = re.compile(
    r"\b(?:improv\w*|better|fix|optimi[sz]e|tweak|tune)\b|改进|改善|优化|好一?[点些]|弄|调一?[下调]|改一?[下改]",
    ANY_CASE,
)


_TURNS = re.compile(
    r"^(?:please |can you |could you )?"
    r"(?:turn|bump|crank|increase|decrease|reduce|raise|lower|change|adjust|make)\b"
    r"|[把将]?[^，,]{0,8}(?:[调改换变加减增弄搞](?:[大小高低快慢多少]|一下|掉)|加大|减小|增大|换成别的|换一?个)",
    ANY_CASE,
)


_TO_A_NUMBER = re.compile(
    r"(?:(?:please |now |can you |ok,? )*(?:change|set|make|put|turn)"
    r"(?: (?:it|this|that|the value))?(?: to| at)? "
    r"|(?:请|帮我)?(?:把)?(?:它|这个|那个|数值?)?(?:改|设|调|换|变)[成为到]\s*)[-\d.]+\s?[a-zµμ]{0,3}",
    ANY_CASE,
)
"""The whole of a wish for a value, of what is not said."""


def _is_vague(text: str, *, is_meant: bool) -> bool:
    """Whether a wish says neither what of, nor what it is to become: "make it better"."""
    if _TO_A_NUMBER.fullmatch(text.strip(" .!。！")):
        return True
    kinds = (*PARTS, *OF_LETTER, *BY_KIND)
    is_other = _asks(text) or re.search(r"\d", text) is not None
    if is_other and any(re.search(pattern, text, ANY_CASE) for pattern, _ in kinds):
        return False
    is_wish = (CHANGES.search(text) and not is_meant) or _IMPROVES.search(text) or _TURNS.search(text)
    return is_wish is not None and holds_nothing(text) and not foreign(text)


def _asks(text: str) -> bool:
    return _QUESTION.search(text) is not None or QUESTION.search(text) is not None


def _readings(command: Command) -> tuple[tuple[Ask, ...], tuple[tuple[str, str], ...]]:
    """The questions a command holds, and the values it writes or tries."""
    match command:
        case Ask():
            return (command,), ()
        case Change(values=values, ask=ask):
            return (ask,) if ask is not None else (), values
        case Simulate(parameters=parameters, stop=stop, band=band):
            told = tuple(("band", number(each)) for each in band or ())
            return (), (*parameters, *((("stop", stop),) if stop else ()), *told)
        case Several(commands=commands):
            found = [_readings(each) for each in commands]
            return tuple(ask for asks, _ in found for ask in asks), tuple(
                value for _, values in found for value in values
            )
    return (), ()


def _answered_without(command: Command, left: Sequence[str]) -> Command:
    """The question, with what of the sentence its answer leaves out."""
    if isinstance(command, Several):
        *others, last = command.commands
        return Several(commands=(*others, _answered_without(last, left)))
    return replace(command, unanswered="; ".join(left)) if isinstance(command, Ask) else command


def _whole(sentence: str, text: str, file: str, rest: str, known: Sequence[str]) -> Command:
    """A sentence, or a clause of one, as one command."""
    if (known or file) and (of_runs := question_of_runs(rest, file)) is not None:
        return of_runs
    is_card = _CARDS_ONLY.search(sentence) is not None
    is_plain = not find_expressions(rest) or _ONLY_NODE.search(rest) is not None
    ask = understand_question(rest, file, known) if is_plain and not is_card else None
    if ask is not None and (file or not _is_new_circuit(sentence, ask)):
        return ask
    is_design = _DESIGN.search(sentence) is not None and DIRECT.search(rest) is None
    if not is_design or file:
        command = _command(sentence, file, rest, known)
        if command is not None:
            return command
    is_question = not is_design and _QUESTION.search(sentence) is not None
    return Design(text=text, is_meant=is_design, is_question=is_question)


_OWN = frozenset(
    {"undo", "find_part", "role", "power", "point", "current", "node", "set_goal", "check_goals",
     "what_if", "tune",
     "conduction", "count", "losses", "across", "swap", "stimulus", "output_impedance",
     "sweep", "worst_case", "monte_carlo", "compare"}
)  # fmt: skip
"""Intents that are no part of another one's answer."""
_LOOKS = frozenset({"point", "current", "voltage", "power", "figure", "limits"})
_SPREADS = frozenset({"monte_carlo", "worst_case"})
_STUDIES = frozenset({"sweep", "worst_case", "monte_carlo", "tune", "what_if"})
"""Whose answer holds what is looked at."""


def _several(  # noqa: PLR0912 - one a kind of clause
    whole: Command, file: str, rest: str, known: Sequence[str]
) -> Command | None:
    """The clauses of a sentence as commands of their own; None where the whole is better taken as one.

    Every clause has to be understood, or to hold nothing that could be meant: no figure, part, number,
    wish or question.
    """
    if isinstance(whole, Ask) and len(whole.parameters) > 1 and not _CHANGE.search(rest):
        return None  # "ripple with C1 = 220u and L1 = 47u": one condition beside the other
    clauses = [
        each.strip() for each in CLAUSES.split(without_courtesies(rest)) if each and each.strip(" .!?。！？")
    ]
    if len(clauses) < 2 or ADVICE.search(rest) or (isinstance(whole, Design) and whole.is_meant):
        return None
    found: list[Command] = []
    given: tuple[tuple[str, str], ...] = ()
    is_tried = False
    for clause in clauses:
        last = next((each for each in reversed(found) if isinstance(each, Ask)), None)
        command = _whole(clause, clause, file, clause, known)
        if (
            isinstance(command, Design)
            and says_nothing(clause)
            and isinstance(whole, Ask)
            and whole.intent == "find_part"
        ):
            if re.search(r"library|库", clause):  # "is there one in the library"
                found = [*found, whole]
            continue
        if (
            isinstance(command, Design | SmallTalk | Search | Show | ListFiles | References)
            and last is not None
        ):
            leaning = understand_question(clause, file, known, before=last)
            command = leaning or command
        if isinstance(command, Ask) and command.removed == ("it",) and last is not None and last.names:
            command = replace(command, removed=last.names[:1])
        if isinstance(command, Design) and found and _is_told(clause):
            continue
        if clause is not clauses[-1] and (own := _only_conditions(clause, command)):
            given, is_tried = (*given, *own), isinstance(command, Ask)
            continue
        if given and isinstance(command, Ask) and not command.parameters:
            is_set_beside = command.intent == "figure" and is_tried
            command = replace(
                command, intent="what_if" if is_set_beside else command.intent, parameters=given
            )
            given = ()
        is_context = (
            isinstance(command, Design)
            and not command.is_meant
            and _is_context(clause)
            and clause is not clauses[-1]
        )
        if is_context or (
            isinstance(command, Ask)
            and command.intent == "figure"
            and not command.at
            and _is_context(clause)
            and clause is not clauses[-1]
        ):
            continue
        if not isinstance(command, Change | Simulate | Ask | Analyze):
            if says_nothing(clause) and not (
                isinstance(command, Design) and (command.is_meant or command.is_question)
            ):
                continue
            return None
        found = _with_next(found, command)
    if given:
        return None
    if _is_tried(rest) and any(isinstance(each, Change) for each in found):
        found = _as_trial(found, rest)
    return _better(whole, found)


def _only_conditions(clause: str, command: Command) -> tuple[tuple[str, str], ...]:
    """The values a clause supposes for what the next one asks, where it asks nothing itself."""
    if isinstance(command, Ask) and command.intent == "what_if" and not command.figures:
        return command.parameters if not command.removed and _is_supposed(clause) else ()
    return conditions_in(clause) if isinstance(command, Design) and not _asks(clause) else ()


def _is_supposed(clause: str) -> bool:
    return re.search(r"[?？]|吗|\b(?:what|which|how|does|will|would|can)\b|会怎|怎样|多少", clause) is None


_NOT_IN_PART = frozenset({"tune", "set_goal", "swap", "undo", "stimulus", "find_part"})
"""Intents that do more than look, or look elsewhere: never taken out of a sentence that is not understood."""


def _in_part(file: str, rest: str, known: Sequence[str]) -> Command | None:
    """The questions among the clauses of a sentence whose rest is not understood; None for none."""
    found: list[Ask] = []
    lost: list[str] = []
    for clause in filter(None, (each.strip(" .!。！") for each in CLAUSES.split(rest) if each)):
        command = _whole(clause, clause, file, clause, known)
        if isinstance(command, Ask) and command.intent not in _NOT_IN_PART and command.writes:
            found.append(command)
        elif not says_nothing(clause) or _QUESTION.search(clause):
            lost.append(clause)
    if not found or not lost:
        return None
    asked = (*found[:-1], replace(found[-1], unanswered="; ".join(lost)))
    return asked[0] if len(asked) == 1 else Several(commands=asked)


_TELLS = re.compile(
    r"(?:my|our|i'?ve|i have|i am|i'm|we|because|since|as i|that'?s|it'?s|like|just|mostly|only|from my|"
    r"assum\w+|say)\b|我(?:的|手上|已经|现在|这)|因为|反正|毕竟",
    ANY_CASE,
)
"""How a clause begins that says why something is asked."""


def _is_told(clause: str) -> bool:
    """Whether a clause only says why: it asks nothing, and wishes nothing."""
    is_asked = re.search(
        r"[?？]|吗|多少|几|什么|哪|怎|\b(?:what|which|how|why|whether|show|tell|give)\b", clause, ANY_CASE
    )
    return _TELLS.match(clause) is not None and is_asked is None and _CHANGE.search(clause) is None


def _is_context(clause: str) -> bool:
    """Whether a clause only tells what is: "the bandwidth is too narrow"."""
    return (
        not re.search(
            r"\d|[?？]|吗|多少|几|什么|哪|怎|\b(?:what|which|how|why|show|tell|give|plot|measure|check)\b",
            clause,
            ANY_CASE,
        )
        and re.search(r"\b(?:is|are|was|rings?|looks?|seems?|gets?|too)\b|太|了|有点|好像", clause, ANY_CASE)
        is not None
        and not _CHANGE.search(clause)
    )


_ASSUMED = re.compile(r"\s*[A-Za-z]\w*\s*=\s*[\d.]+\s?\w*\s*[,，;；].*[?？]\s*$")
"""A value and a question behind it: "Rload = 5, efficiency?"."""


def _is_tried(text: str) -> bool:
    """Whether something is only to be tried: an order is none although its effect is looked at."""
    if _ASSUMED.match(text):
        return True
    return _HYPOTHESIS.search(WATCHED.sub(" ", text) if ORDERED.match(text) else text) is not None


def _tried(command: Command) -> Command:
    """A change as a trial: the sentence asks what would come of it."""
    if not isinstance(command, Change) or command.expressions:
        return command
    figures = command.ask if command.ask is not None else Ask(intent="figure")
    return replace(figures, intent="what_if", file=command.file, parameters=command.values)


def _as_trial(found: Sequence[Command], rest: str) -> list[Command]:
    """Changes as trials, of the figures that are asked for beside them."""
    tried = [_tried(each) for each in found]
    asked = figures_of(ASSIGNMENT.sub(" ", rest))
    if asked is None or not any(isinstance(each, Ask) and each.intent == "what_if" for each in tried):
        return tried
    return [
        replace(each, figures=each.figures or asked.figures)
        for each in tried
        if isinstance(each, Ask) and each.intent not in _LOOKS
    ]


def _with_next(found: list[Command], command: Command) -> list[Command]:  # noqa: PLR0911 - one a pair
    """The commands with one more: what is looked at behind a change is its before and after."""
    last = found[-1] if found else None
    if isinstance(last, Simulate) and last.stop and isinstance(command, Ask) and command.intent == "figure":
        return found
    if isinstance(last, Change):
        if isinstance(command, Simulate) and not command.parameters and not command.stop:
            return [*found[:-1], replace(last, simulates=True)]
        if (
            isinstance(command, Ask)
            and command.intent == "figure"
            and last.ask is not None
            and not last.ask.figures
        ):
            return [*found[:-1], replace(last, ask=command)]
        if isinstance(command, Ask) and command.intent == "compare" and any(map(str.isdigit, command.query)):
            return [*found[:-1], replace(last, simulates=True), command]
        if isinstance(command, Ask) and command.intent == "compare" and last.ask is not None:
            return found
        if (
            isinstance(command, Ask)
            and command.intent in ("figure", "compare", "voltage", "limits")
            and last.ask is None
        ):
            return [*found[:-1], replace(last, simulates=True, ask=replace(command, intent="figure"))]
    if (
        isinstance(last, Ask)
        and isinstance(command, Ask)
        and last.intent == command.intent == "figure"
        and (last.at, last.parameters, last.nodes) == (command.at, command.parameters, command.nodes)
    ):
        figures = tuple(dict.fromkeys((*last.figures, *command.figures)))
        return [*found[:-1], replace(last, figures=figures)]
    return [*found, command]


def _better(whole: Command, found: Sequence[Command]) -> Command | None:  # noqa: PLR0911 - one a case
    """The clauses where they say more than the sentence taken as one; None where they do not."""
    if not found:
        return None
    if isinstance(whole, Design):
        return found[0] if len(found) == 1 else Several(commands=tuple(found))
    only = found[0] if len(found) == 1 else None
    if isinstance(only, Ask) and isinstance(whole, Ask) and only.parameters and not whole.parameters:
        return only
    own = {each.intent if isinstance(each, Ask) else type(each).__name__ for each in found}
    mine = whole.intent if isinstance(whole, Ask) else type(whole).__name__
    changed = [each for each in found if isinstance(each, Change)]
    if isinstance(whole, Change) and len(found) == 1 and changed:
        return changed[0] if changed[0].ask is not None and whole.ask is None else None
    places = {(each.at, each.place) for each in found if isinstance(each, Ask) and each.intent == "figure"}
    if mine == "figure" and len(places) > 1:
        return Several(commands=tuple(found))
    others = own - {mine} - (_LOOKS if mine in _STUDIES else frozenset())
    if mine in _SPREADS:
        others -= _SPREADS
    if mine == "tune" and isinstance(whole, Ask) and whole.kept:
        return None
    is_more = bool(others & (_OWN | {"Change"})) or (isinstance(whole, Simulate) and "figure" in own)
    if not is_more or (len(found) == 1 and not changed):
        return None
    return found[0] if len(found) == 1 else Several(commands=tuple(found))


def _is_new_circuit(sentence: str, ask: Ask) -> bool:
    """Whether a sentence that names no file asks for a circuit that can be designed, not about one."""
    if ask.intent == "find_part" and _DESIGN.search(sentence) and not _NEEDED.search(sentence):
        return _is_named(sentence)
    if (
        ask.intent in ("undo", "find_part")
        or ask.besides
        or _OF_ONE.search(sentence)
        or (_asks(sentence) and not _DESIGN.search(sentence))
        or _QUESTION.search(sentence)
    ):
        return False
    return _is_named(sentence)


@lru_cache(maxsize=64)
def _is_named(sentence: str) -> bool:
    """Whether a circuit that can be designed is called by its name."""
    from domain.design.catalogue import understand  # with all families of circuits

    try:
        understand(sentence)
    except CircuitError as error:
        return error.error_type != "unknown_circuit"
    return True


def _leaning(sentence: str, file: str, rest: str, previous: Command, known: Sequence[str]) -> Command | None:
    """A command that says only what is other than in the one before; None for any other sentence."""
    if isinstance(previous, Ask):
        return follow_up(rest, file, previous, known)
    if isinstance(previous, Change | Simulate) and (found := _ANOTHER_VALUE.fullmatch(sentence)):
        values = previous.values if isinstance(previous, Change) else previous.parameters
        if len(values) == 1:
            other = ((values[0][0], spice_value(found["value"] or found["other"], values[0][0])),)
            is_change = isinstance(previous, Change)
            return replace(previous, values=other) if is_change else replace(previous, parameters=other)  # type: ignore[arg-type]
    return None


def _small_talk(text: str) -> SmallTalk | None:
    if _GREETING.fullmatch(text):
        return SmallTalk(kind="greeting")
    if _THANKS.fullmatch(text):
        return SmallTalk(kind="thanks")
    if _FAMILIES.fullmatch(text):
        return SmallTalk(kind="families", language=language_of(text))
    return SmallTalk(kind="help") if _HELP.fullmatch(text) else None


def _command(sentence: str, file: str, rest: str, known: Sequence[str]) -> Command | None:
    """The first kind of command that fits; the sentence's file is taken out of `rest`."""
    for pattern in _REFERENCES:
        if found := pattern.search(rest):
            return References(symbol=found[1].rstrip("."))
    if file and (files := _deleted(sentence, file, rest, known)):
        return Delete(files=files)
    return _work(file, rest) or _look(sentence, file, rest)


_RESULTS = re.compile(
    r"(?:please |can you |could you )*(?:(?:show|give|tell|list|what are|what were|repeat)(?: me| us)? )?"
    r"(?:all )?(?:the )?"
    r"(?:(?:last|latest|newest|current|simulation|run|measured) )*(?:results?|measurements?|figures|numbers)"
    r"(?: (?:of|from) (?:the |this )?(?:(?:last|latest|newest|current) )?(?:run|simulation|sim|circuit))?"
    r"|(?:请|帮我)?(?:看看?|显示|列出|给出|告诉我)?(?:一下)?(?:上次|最近|最近一次|最新|这次)?的?(?:仿真|运行)的?结果",
    ANY_CASE,
)
"""The whole of a sentence that wants to be told what a run gave."""


def _work(file: str, rest: str) -> Command | None:  # noqa: PLR0911 - one a kind of command
    """Changing, simulating, measuring; what is negated is not done."""
    without_run = _NO_SIMULATION.sub("", rest)
    if _RESULTS.fullmatch(rest.strip(" .?!。？！")):
        return Simulate(file=file)
    if _NEGATION.search(without_run):
        return None
    expressions = find_expressions(rest)
    simulates = _SIMULATE.search(without_run) is not None
    values = changes_in(rest)
    is_tried = _is_tried(rest) or (simulates and not _CHANGE.search(rest))
    if values and is_tried and not expressions and not simulates:
        return _tried(
            Change(file=file, values=values, simulates=False, ask=figures_of(ASSIGNMENT.sub(" ", rest)))
        )
    heat = tuple(each for each in conditions_in(rest) if each[0] == "temp") if simulates else ()
    if (values or heat) and is_tried:
        return Simulate(file=file, parameters=(*values, *heat), expressions=expressions)
    is_change = (
        _CHANGE.search(rest) is not None
        or TIMES_NOW.search(rest) is not None
        or BARE_CHANGE.fullmatch(rest.strip(" .。!"))
    )
    if values and is_change:
        if all(FIGURES_BY_NAME.fullmatch(name) for name, _ in values):
            return None
        ask = None if expressions else figures_of(ASSIGNMENT.sub(" ", rest))
        if ask is None and any(name in SYMBOLS - {"RL"} or value.startswith("*") for name, value in values):
            ask = Ask(intent="figure")
        simulates = simulates or bool(expressions) or ask is not None
        return Change(file=file, values=values, simulates=simulates, expressions=expressions, ask=ask)
    if simulates and (stop := _STOP.search(rest)):
        return Simulate(file=file, stop=f"{stop['number']}{PREFIXES.get(stop['prefix'], stop['prefix'])}")
    analysis = _analysis_type(rest)
    if analysis == "ac" and (band := band_of(rest)) is not None:
        return Simulate(file=file, analysis_type="ac", band=band)
    wanted = expressions or plain_expressions(rest)
    if simulates or analysis:
        return Simulate(file=file, analysis_type=analysis, expressions=wanted)
    if expressions:
        return Measure(file=file, expressions=wanted)
    return None


def _look(sentence: str, file: str, rest: str) -> Command | None:
    is_check = _CHECK.fullmatch(rest.strip(" .?!。？！")) is not None
    if file and (is_check or _ANALYZE.search(rest)):
        return Analyze(file=file, as_outline=_OUTLINE.search(rest) is not None, is_check=is_check)
    if not file and EXPLAIN.search(sentence):
        return Analyze(file="")
    if _LIST.search(sentence) and not file:
        return ListFiles()
    if file and (_SHOW.search(rest) or not rest.strip(" .?!。？！")):
        first, last = _lines(rest)
        return Show(file=file, first=first, last=last)
    if (found := _SEARCH.search(sentence)) and (query := _query(found[1])):
        return Search(query=query)
    return None


def _deleted(sentence: str, file: str, rest: str, known: Sequence[str]) -> tuple[str, ...]:
    """The files of a sentence that only wants them deleted, as it names them; none for any other sentence."""
    files = {file}
    name, others = take_file(rest, known)
    while name:
        files.add(name)
        name, others = take_file(others, known)
    rest = _AND.sub(" ", others) if len(files) > 1 else rest
    return (
        tuple(sorted(files, key=lambda name: sentence.casefold().find(name.casefold())))
        if _DELETE.fullmatch(rest)
        else ()
    )


_SWEEPS_FREQUENCY = re.compile(
    r"\bsweep (?:the )?(?:input |signal |source )?freq(?:uency)?\b|扫(?:描|一下)?(?:输入)?(?:信号)?频率|扫频",
    ANY_CASE,
)


def _analysis_type(text: str) -> str:
    if _SWEEPS_FREQUENCY.search(text):
        return "ac"
    for kind, words in _ANALYSES:
        if re.search(rf"(?:{words}){_ANALYSIS_WORD}", text, ANY_CASE):
            return kind
    return ""


def find_expressions(text: str) -> tuple[str, ...]:
    """What a sentence has in the form of a function: ``bandwidth(v(out))``, ``db(v(out))``, ``@m1[id]``."""
    found: list[str] = []
    at = 0
    while opening := _FUNCTION_START.search(text, at):
        end = _closing(text, opening.end() - 1)
        if end is None:
            at = opening.end()
            continue
        found.append(text[opening.start() : end])
        at = end
    return tuple(dict.fromkeys(found))


def _closing(text: str, opening: int) -> int | None:
    """The place behind the bracket that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth == 0:
            return at + 1
    return None


def _lines(text: str) -> tuple[int | None, int | None]:
    found = _LINES.search(text)
    if found is None:
        return None, None
    first = int(found[1])
    return first, int(found[2]) if found[2] else first


def _query(text: str) -> str:
    if quoted := _QUOTED.search(text):
        return quoted[1] or quoted[2]
    return _SEARCH_TAIL.sub("", _SEARCH_TAIL.sub("", text)).strip()
