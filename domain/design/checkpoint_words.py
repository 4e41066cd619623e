"""The words of a text typed at a checkpoint: cut into phrases that are known, and the rest.

Knows spellings (full width, traditional characters, typos of one letter), not what is meant by them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

Role = Literal[
    "filler", "pause", "not", "yes", "but", "concede", "if", "asks", "wish", "hint", "tell", "new", "change",
    "pick", "edit", "wants", "part", "quantity", "goal", "round", "back", "error", "value", "quote", "other",
    "continue", "optimize", "fix", "accept", "stop", "undo", "enough", "done",
]  # fmt: skip
"""filler: nothing is meant by it; asks: makes a question; wish: politeness put as one ("could you"); hint:
"how about"; tell: "explain"; new: another circuit is described; change: something becomes another; pick:
"use"; concede: "even though", "doesn't matter"; edit: a change, also of goals; part, quantity: what a circuit
has. Those from "continue" on are a checkpoint's own words."""

COUNTED = -2
"""Of a number of rounds, which names none of them."""


class Phrase(NamedTuple):
    """A piece of the text."""

    role: Role
    number: int = 0
    """Of a round; 0: none is named, -1: the one before the last; or `COUNTED`."""
    is_typo: bool = False


_ENGLISH: Mapping[Role, str] = {
    "pick": "pick|choose|use|take|keep|select|go with|go for|stick to|stick with|prefer",
    "filler": (
        "please|pls|plz|kindly|thanks|thank you|thx|cheers|well|so|then|now|right|alright|all right|hm|"
        "hmm|um|let's|lets|let us|let me|i'd rather have|i would rather have|i would like to|i'd like to|"
        "i want to|i want you to|i think|"
        "i guess|i say|we can|we should|you can|you may|we|i|i'd|i'll|i'm|just|simply|go ahead and|a|"
        "an|the|it|this|that|these|one|here|there|it here|all|and|to|for|of|in|on|at|is|are|be|me|us|"
        "you|my|our|your|bit|a bit|little|a little|more|some more|further|again|as it is|"
        "as is|like this|at this point|for now|u|ur|imo|imho|tbh|btw|afaik|gonna|wanna|gotta|right now|"
        "immediately|also|too|yet|still|already|really|"
        "very|hey|hi there|guys|dear|sir|mate|design|circuit|result|results|solution|version|job|work|"
        "this one|this round|this design|this circuit|this result|the design|the circuit|by me|with it|"
        "with this|with that|do|do it|happy|happy with|i am happy with|satisfied|satisfied with|"
        "as the final design|hello|hello there|hi|good morning|good evening|goals met|goals are met|"
        "all goals met|all goals are met|final|finally|maybe|perhaps|any|time|another time|actually|"
        "ahead|try|from|up|sorry|oops|sure thing|no more than|not more than|no less than|not less than|"
        "no greater than|not greater than|no higher than|not higher than|no lower than|not lower than|"
        "not exceed|not to exceed|not exceeding|wouldn't hurt|would not hurt|"
        "anyway|nevertheless|regardless|even so|goals not met|i changed my mind|changed my mind|see|nicely|"
        "it again|out|have|any more|"
        "anymore|what you just did|what you did|what you have done|what you've done|if possible|if you can|"
        "if it can be done|no longer needed|goes nowhere|this goes nowhere|last|latest|recent"
    ),
    "other": (
        "i don't like|i do not like|don't like|do not like|i dislike|not happy with|i'm not happy with|"
        "unhappy with"
    ),
    "not": (
        "not good enough|not enough|not good|not quite|nope|nah|not|don't|dont|do not|doesn't|does not|"
        "never|no|won't|will not|wouldn't|can't|cannot|didn't|"
        "did not|isn't|aren't|not yet|without|no need to|shouldn't|should not|neither|nor|rather not|"
        "must not|mustn't"
    ),
    "yes": (
        "ok|okay|okey|k|yes|yep|yeah|yup|sure|fine|good|great|perfect|nice|cool|excellent|very good|"
        "good job|sounds good|agreed|agree|of course|certainly|absolutely|excellent work|well done|"
        "looks good|looks good to me|looks great|looks fine|looks right|looks alright|"
        "looks ok|that works|that works for me|i like it|"
        "would be enough|would do|would be fine|would suffice|would be ok|is plenty|"
        "we're good|it's perfect|that's perfect|it's good|that's good|that's fine|it's fine|"
        "this is good|this is fine|this is perfect|i am satisfied|i'm satisfied|i am happy"
    ),
    "concede": (
        "i know|i am aware|i'm aware|even though|even if|despite|in spite of|knowing|admittedly|"
        "doesn't matter|"
        "does not matter|never mind|nevermind|no matter|i don't care|i don't mind|don't care|no big deal|"
        "who cares|i can live with|can live with|is tolerable|is acceptable|not important|isn't important"
    ),
    "but": "but|however|except|although|though|only|with|using|while|instead|instead of|rather|besides",
    "if": (
        "if|unless|when|until|till|once|after|before|as soon as|as long as|provided|provided that|"
        "in case|otherwise|else|suppose|assuming|would"
    ),
    "asks": (
        "what|what's|whats|wat|why|why's|whys|how|how's|hows|howcome|how'd|which|who|whom|whose|where|"
        "where's|when's|whether|"
        "wonder|wondering|don't understand|do not understand|didn't understand|don't get|"
        "not clear to me|unclear to me|confused|curious|any idea|can i|could i|may i|should i|"
        "should we|shall we|shall i|is it|is this|is that|is there|are there|are these|are we|does it|"
        "does this|does that|did it|did you|do we|do i|do you|have you|has it|was it|was that|were|"
        "will it|would it|can it|could it|am i|isn't it|doesn't it|question"
    ),
    "wish": (
        "can you|could you|would you|will you|can u|could u|would u|can ya|can you please|could you please|"
        "would you please|can we|"
        "could we|would you mind|would it be possible to|is it possible to|mind"
    ),
    "tell": (
        "explain|tell|tell me|show|show me|describe|compare|summarize|summarise|list|give me|elaborate|"
        "clarify|help me understand|walk me through|report|print|display|teach|say"
    ),
    "hint": ("how about|what about|why don't we|why don't you|why not|what if we|what if you|maybe we could"),
    "change": (
        "replace|swap|make|put|add|remove|delete|drop|take out|insert|connect|increase|decrease|reduce|"
        "lower|raise|double|halve|move|limit|simplify|minimize|minimise|maximize|maximise|avoid|"
        "convert|scale|round off|allow|exchange|substitute|bypass|widen|narrow|aim|switch to|switch|"
        "turn|leave|ensure|bring|get|get rid of|give it|bias|shorten|rename|ditch|lose|exclude|include|"
        "focus|first|aim for|stick|try a|try an|try the|try using|try some|try with|test with|squeeze|cut|"
        "trim|boost it|strengthen|weaken|push"
    ),
    "wants": "need|needs|want|wants|must|should|wish|like|i need|i want|have to|has to|ought to",
    "edit": (
        "change|edit|modify|adjust|alter|forget the|forget that|never mind the|skip the|relax|tighten|"
        "loosen|update|revise|set|redefine|reconsider|"
        "shift|rework|raise|lower|changing|editing|ignore|disregard|forget about|waive|"
        "rewrite|redo|rethink|revisit|revisiting"
    ),
    "part": (
        "resistor|resistors|capacitor|capacitors|cap|caps|inductor|inductors|coil|diode|diodes|"
        "transistor|transistors|mosfet|mosfets|bjt|jfet|opamp|op-amp|op amp|op-amps|opamps|supply|rail|"
        "rails|load|source|e3|e6|e12|e24|e48|e96|e192|series|values|value|tolerance|tolerances|part|"
        "parts|component|components|stage|stages|topology|feedback|buffer|output|input|order|netlist|"
        "model|models|snubber|ferrite|transformer|switch node|package|smd|analysis|sweep|standard|esr|"
        "esl|cascode|darlington|darlington pair|current mirror|follower|emitter follower|source follower|"
        "push-pull|"
        "class ab|differential pair|long-tailed pair|common base|common emitter|bootstrap|active load|pcb|"
        "node|ground|layout|chebyshev|butterworth|bessel|sallen-key|mfb|buck|boost|ldo|filter|"
        "amplifier|converter|regulator|oscillator|simulation time|time step|timestep"
    ),
    "quantity": (
        "supply current|quiescent current|bias current|load current|input current|output current|"
        "input impedance|"
        "output impedance|input resistance|output resistance|output voltage|output power|output noise|"
        "input noise|"
        "output swing|load regulation|line regulation|cost|cheaper|cheap|noise|noisy|quieter|bandwidth|"
        "slew|slew rate|temperature|bigger|smaller|"
        "larger|higher|faster|slower|less|trace|current|voltage|power|efficiency|ripple|overshoot|gain|"
        "phase|margin|margins|impedance|frequency|cutoff|cut-off|cut off|corner|q|peaking|attenuation|"
        "stopband|passband|stop band|pass band|stop-band|pass-band|distortion|thd|area|size|"
        "oscillation|oscillations|ringing|flatness|response|phase margin|gain margin|settling|"
        "rise time|stability|stable|better|performance|accuracy|precision|sensitivity|spread"
    ),
    "goal": (
        "goal|goals|target|targets|spec|specs|specification|specifications|requirement|requirements|"
        "limits|objective|objectives"
    ),
    "new": (
        "design a|design an|design me a|design me an|design another|build a|build me a|create a|a new circuit"
    ),
    "round": "round|rounds|iteration|iterations|turn|step",
    "back": (
        "back|go back|back to|go back to|return|return to|revert to|roll back to|rollback to|restore|"
        "jump back to|get back to|take me back to|switch back to|reset to|bring back|go to|"
        "back to how it was in|back to how it was at|back to how things were in|back to the way it was in|"
        "back to what we had in|back to what it was in|take me back to how it was in|take us back to|"
        "go back to how it was in|return me to|put me back to|put it back to|restore what we had in"
    ),
    "error": (
        "the netlist has an error|netlist has an error|there is an error|there's an error|"
        "error|errors|failure|problem|mistake|simulation|simulation error|convergence|issue|bug|fault|"
        "convergence problem|convergence error|simulation failure|netlist error|failed simulation|"
        "aborted|simulation aborted|crashed|crash|failed|did not converge|didn't converge|"
        "does not converge|doesn't converge|"
        "the simulation crashed|the simulation failed|it failed|it crashed|broken"
    ),
    "continue": (
        "proceed with|move on to|go on with|go on to|start|begin|advance|cycle again|loop again|roll on|"
        "step forward|next cycle|another cycle|"
        "go to the next|go to the next round|go to the next one|go on to the next round|"
        "let it go on|let it continue|keep iterating|continue iterating|go again|"
        "start over the loop|once again|next try|the next round|"
        "iterate|iterate once more|iterate again|let it iterate|let it iterate once more|"
        "continue|go on|go ahead|next|next round|next one|next step|another round|one more round|"
        "one more|another one|another try|another go|keep going|keep on|keep at it|proceed|carry on|"
        "move on|try again|again please|resume|one more time|onward|onwards|keep trying|"
        "go for it|go for another|go for another one|go for one more|give it another go|"
        "give it another try|run|run it|run it again|run again|rerun|re-run|"
        "simulate|simulate again|simulate it again|run another round|do another round|"
        "start the next round|a further round|retry|continue on|another iteration|one more iteration|"
        "give it another shot|another shot|one more shot|press on|push on|go|let's go|keep it up|"
        "do one more|run one more|do another|do it again|let it run|keep running|keep working|"
        "another pass|one more pass|one more try|give it one more try|continue the run|"
        "continue the design|go further|next iteration|do the next round|start another round|"
        "another attempt|one more attempt|have another attempt|have another go|another turn|"
        "one more turn|new attempt|new round|a new round|once more please|please once more|once again please|"
        "once more|once again|have a go|have another|spin it again|give it another spin"
    ),
    "optimize": (
        "tweak|tweak it|hone|hone it|enhance|enhance it|make it tighter|push it further|"
        "push further|squeeze|squeeze it|do a bit better|do it better|get it closer|"
        "bring it closer|make it more accurate|more accurate|"
        "tighten|tighten up|tighten it|tighten it up|tune it up|sharpen it|"
        "optimize|optimise|optimizing|optimising|optimization|optimisation|fine tune|fine-tune|"
        "finetune|improve|improve it|improve this|make it better|make it even better|do better|"
        "keep optimizing|keep improving|optimize the values|optimise the values|"
        "optimize the parameters|optimize parameters|optimise the parameters|optimize further|tune it|"
        "tune|try harder|do your best|keep tuning|get closer|get closer to the target|"
        "get closer to the targets|optimize more|optimise more|better still|improve on it|"
        "improve the design|squeeze more out|squeeze more out of it|squeeze a bit more out of it|"
        "squeeze a little more out of it|get more out of it|refine|refine it|continue optimizing|"
        "go on optimizing|continue to optimize|"
        "polish|polish it|optimize the component values|optimize component values|optimize all values|"
        "optimize all the values|optimize the parts|improve the values"
    ),
    "fix": (
        "cure|cure it|remedy|remedy it|troubleshoot|troubleshoot it|find the bug|find the error|"
        "find the mistake|make it simulate|make it converge|get it to converge|get it to simulate|"
        "get it to run|make it work again|correct the netlist|fix the netlist|repair the netlist|"
        "repair the circuit|fix the circuit|fix the file|correct the file|"
        "look into it|look into this|look into that|take care of it|take care of this|deal with it|"
        "deal with this|"
        "handle it|handle this|sort it out|sort this out|sort that out|sort out|clear up|get rid of|fix|"
        "repair|debug|fix it|solve|"
        "resolve|get it running|make it run|make it work|correct|correct it"
    ),
    "accept": (
        "save|save it|save this|commit|commit it|adopt|adopt it|freeze|freeze it|looks final|"
        "make it final|settle for it|settle for this|i'm keeping it|keeping it|"
        "accept|accepted|i accept|approve|approved|lgtm|let's take this|let's take it|"
        "let's take this one|we take it|i take it|i'll take it|take this one|take it|ship it|"
        "good enough|that's it|that is it|keep it|keep this design|keep this|use this one|go with this|"
        "go with this one|go with it|good to go|take this version|i'll take this version|i take this|"
        "keep this version|use this version|go with this version|keep this one|take this design|"
        "use this design|accept it|accept this|accept the design|i'm taking it|sign off|we keep it|"
        "a keeper|that's a keeper|that is a keeper|that's the one|that is the one|this is the one|the one|"
        "wrap it up|wrap up|wrap this up|call it done|"
        "call it finished|i'm sold|settle on this|settle on it|settle for this|settle for it|finalise|"
        "finalize|"
        "what i wanted|this is what i wanted|that is what i wanted|that's what i wanted|just what i wanted|"
        "exactly what i wanted|finalise it|finalize it|finalise this|finalize this|lock it in|sign it off"
    ),
    "done": (
        "done|finish|finished|finish it|i'm done|we're done|we are done|complete|completed|all done|finishing"
    ),
    "stop": (
        "suspend|suspend it|close it|finish here|leave off|leave off here|stand by|hold on|"
        "hold off|knock it off|wrap it up here|"
        "stop|stop it|stop here|stop now|pause|pause it|pause here|pause there|paused|hold it here|"
        "take a break|cancel|abort|quit|exit|halt|end|end it|end here|"
        "end the design|stop the design|give up|leave it there|terminate|call it off|forget it|"
        "stop this|break off|stopping|call it a day|let's call it a day|abort the run|stop the run|"
        "cancel the run|end the run|abandon|abandon it|stop working|stop the process|shut it down|"
        "cancel the design|cancel it|abort it|i give up|leave it|let it be|drop it|"
        "drop the whole thing|leave it alone|that's it for today|that's it for now|that's all for today|"
        "that's all for now|that's enough for today|enough for today|done for today|i'm done for today"
    ),
    "enough": (
        "enough|that's enough|that is enough|that will do|that'll do|no more|nothing more|"
        "leave it at that|we can leave it at that"
    ),
    "undo": (
        "rewind|rewind it|unwind|unwind it|restore the previous|restore the previous one|"
        "restore the previous round|revert to before|back to before|step back|one step back|"
        "go one step back|go a step back|"
        "take that change back|take the change back|take this change back|take the last change back|"
        "scrap that|scrap it|scrap this|back to what we had|back to what we had before|back to how it was|"
        "back to how it was before|back to the way it was|undo|undo it|undo that|revert|revert it|"
        "revert that|roll back|rollback|take back|take it back|"
        "take that back|undo the changes|undo the change|undo the last change|undo your change|"
        "undo the last step|discard this round|throw this round away|undo last|put it back|"
        "put it back the way it was|undo the last round|undo the last one|undo the round|"
        "revert the last round|reverse that|take that one back|revert the changes|revert your changes|"
        "roll it back|undo this change|undo these changes"
    ),
}

_CHINESE: Mapping[Role, str] = {
    "pick": "用|使用|采用|选|选用|选择|就用|就选|就要",
    "other": (
        "不满意|不喜欢|接受不了|无法接受|不能接受|受不了|好久|好像|好奇|好难|好多|好几|好贵|好慢|可以说|"
        "不可以"
    ),
    "filler": (
        "重新来|重新开始|从那里继续|我看看|我先看看|看看波形|看一下波形|"
        "你好|您好|你好吗|大家好|早上好|晚上好|下午好|目标达到了|目标已达到|目标都达标了|达标了|"
        "都达标了|目标达标|请|麻烦|劳驾|帮我|帮忙|给我|我想|我要|我觉得|我看|我再看看|看看|看一下|看|"
        "谢谢|多谢|谢了|辛苦了|辛苦|吧|了|啊|呀|哦|噢|嗯|哈|哎|唉|喽|啦|呗|就|那|那就|那么|就这样|这样|"
        "一下|一点|一些|点|下|再|又|还|也|都|先|现在|然后|接下来|马上|直接|的|地|得|把|将|它|这个|这|"
        "那个|我|我们|咱们|咱|你|来|去|到|在|往|给|是|有|个|次|结果|设计|电路|方案|本轮|这轮|这一轮|"
        "刚才|刚刚|刚才那轮|这里|这儿|此|这一步|上一步|掉|为止|当前|最新|试试|试一下|进行|做|一轮|一次|"
        "几轮|稍微|更|进一步|之后|以后|暂时|可能|也许|大概|已经|非常|很|太|真|好的话|全部|所有|一|并|"
        "并且|而且|以及|和|及|老师|大哥|亲|兄弟|哥们|这版|这一版|不大于|不高于|不多于|不得超过|"
        "不能超过|不少于|不小于|不低于|不超过|這個|這|請|幫我|謝謝|這樣|吧那|挺|蛮|上|里|好好|一会儿|"
        "看起来|差不多了|差不多|说|话|完|没达标|未达标|再说|我改主意了|改主意了|手上|拜托|"
        "那轮|那一轮|那版|反正|自己|还是|能的话|可以的话|行的话|明天再说|改天再说|下次再说|以后再说|的吧|"
        "这样子"
    ),
    "not": (
        "不行|不好|不够|还不够|不够好|还不行|没过|还不好|还差点|还差一点|差一点|差点|不|别|不要|不用|先别|"
        "先不要|先不|不必|没|没有|勿|莫|不能|不想|不许|不准|还没|不该|不应该|无需|"
        "別|先別|暂不|不让|从不|不再"
    ),
    "yes": (
        "好|好的|好吧|行|可以|没问题|对|是的|嗯嗯|同意|不错|很好|挺好|挺好的|非常好|ok了|中|成|妥|"
        "好极了|太好了|满意|赞|完美|对的|当然"
    ),
    "concede": (
        "我知道|虽然|尽管|即使|哪怕|就算|虽说|没关系|没事|无所谓|不要紧|不碍事|不影响|能忍|可以忍|"
        "问题不大|不重要"
    ),
    "but": "但|但是|不过|只是|可是|然而|只|只要|除了|另外|同时|顺便|改用|而是|而|却|但要|其中|尤其|特别",
    "if": "如果|要是|假如|若|除非|等|直到|一旦|当|万一|的话|的时候|时候|否则|不然|之前|才|前提|只有|等到",
    "asks": (
        "什么|为什么|为何|为啥|啥|怎么|怎样|怎么样|如何|多少|多大|多高|多久|哪|哪个|哪里|哪些|吗|么|呢|"
        "嘛|谁|几|是否|是不是|有没有|够不够|要不要|该不该|是什么意思|什么意思|意思|会不会|对不对|"
        "能不能接受|能否接受|可以接受吗|不明白|不懂|没看懂|看不懂|不理解|不清楚|疑问|想知道|请问|"
        "问一下|问题是|甚么|為什麼|怎麼|嗎|行不行啊|多不多|好不好用|应不应该|还是说|难道|何|还要几轮|"
        "要几轮|还有几轮|还剩几轮|多少轮|几轮才"
    ),
    "wish": "能不能|可不可以|能否|可否|可以不可以|能|能够|你能|可以帮我|麻烦你|方便",
    "tell": (
        "解释|说明|告诉我|告诉|讲讲|讲一下|说说|说一下|介绍|比较|对比|列出|总结|显示|分析|给我看|描述|"
        "展示|评价|解释一下|说明一下|比较一下|讲"
    ),
    "hint": "要不|不如|要么|不妨|何不",
    "change": (
        "换|换成|换个|替换|改成|改为|改到|改用|加|加上|加个|增加|添加|减|减小|减少|去掉|删|删除|删掉|"
        "移除|提高|提升|降低|降|升|升高|增大|加大|变大|变小|调大|调小|调高|调低|调到|缩小|保持|限制|"
        "尽量|禁止|避免|设|设为|设成|设置|取|取为|接|连接|断开|并联|串联|简化|优先|考虑|让|使|加倍|"
        "减半|翻倍|固定|锁定|改善|压低|拉高|換成|換|改小|改大|弄|搞|变成|控制|满足|别动|不动|去除|拆|"
        "移|削|补|动"
    ),
    "wants": "需要|必须|希望|应该|应|要|想要|想|得要|最好",
    "edit": (
        "不管|不用管了|不管了|不要求|不再要求|改|改动|修改|更改|变更|调整|调|放宽|收紧|编辑|改变|更新|"
        "重设|重新设|放松|改改|降到|升到|提到|"
        "提高到|降低到|修订|改一下|不用管|别管|不必管|不用考虑|忽略|不作要求"
    ),
    "part": (
        "电阻|电容|电感|二极管|三极管|晶体管|场效应管|运放|运算放大器|电源|供电|负载|信号源|元件|器件|"
        "零件|阻值|容值|感值|参数|系列|标称值|公差|精度|拓扑|反馈|缓冲|阶数|网表|模型|开关管|变压器|"
        "磁芯|切比雪夫|巴特沃斯|贝塞尔|運放|電阻|電容|一级|两级|级|工艺|接地|节点|仿真时间|补偿|值|"
        "共射共基|共源共栅|达林顿|电流镜|射随|射极跟随器|源跟随器|推挽|差分对|有源负载|自举|"
        "滤波器|放大器|变换器|稳压器|振荡器|步长|型号"
    ),
    "quantity": (
        "供电电流|电源电流|工作电流|静态电流|总电流|负载电流|输入电流|输出电流|输入阻抗|输出阻抗|输入电阻|"
        "输出电阻|"
        "输出电压|输出功率|输出噪声|输入噪声|输出摆幅|成本|便宜|贵|噪声|带宽|输出|输入|温度|电流|电压|"
        "功率|功耗|效率|纹波|过冲|增益|相位|裕度|"
        "相位裕度|阻抗|频率|截止|截止频率|峰值|衰减|通带|阻带|失真|面积|体积|尺寸|振荡|振铃|容差|小|大|"
        "低|高|快|慢|少|多|平坦度|稳定|响应|余量"
    ),
    "goal": (
        "目标|指标|要求|规格|设计目标|设计要求|目標|参数要求|约束|那条|这条|那项|这项|那一条|这一条|"
        "那一项|这一项"
    ),
    "new": "设计一个|设计个|设计一款|设计一种|做一个|新电路|另一个电路|新建",
    "round": "轮|輪|回合|迭代|版|版本",
    "back": (
        "回到|退回|退回到|恢复到|回退到|返回|返回到|跳回|退到|回滚到|还原到|恢复成|恢复|回去|还原|倒回|"
        "切回|切换到|回|撤回到|撤销到|改回|退回去|切回去|换回|退"
    ),
    "error": (
        "仿真中断|仿真中断了|仿真停了|仿真终止|仿真崩了|崩了|崩溃|错|错误|报错|故障|问题|仿真错误|不收敛|"
        "收敛|失败|收敛问题|仿真失败|错误信息|毛病|bug|仿真报错|"
        "没仿真成功|仿真没成功|没跑成功|没成功|没收敛|跑不通|没跑通|挂了|报错了|仿真失败了|失败了|"
        "出错了|出错|越改越糟|越改越差|越改越坏|越调越糟|越调越差|改坏了|调坏了|变糟了|变差了|更糟了|更差了"
    ),
    "continue": (
        "迭代|迭代一次|再迭代一轮|推进|推进一步|继续推进|再循环一次|再算一轮|再算一次|再来一次|"
        "接着算|继续算|往前走|进入下一轮|开始下一轮|"
        "继续|接着|接着来|接着做|下一轮|再来|再来一轮|再来一次|再试|再试一次|再试一轮|再跑|再跑一轮|"
        "再跑一次|往下|往下走|继续下去|接着干|继续吧|前进|重试|下一步|走|再一轮|再做一轮|继续跑|继续做|"
        "再仿真一次|重新仿真|仿真|跑一遍|跑|繼續|开始下一轮|下一个|多跑几轮|再跑几轮|再多跑几轮|"
        "多来几轮|再来几轮|接着跑|走起|开始吧|来吧|跑起来|继续迭代|再迭代一次|继续执行|继续运行|往下做|"
        "再做一次|再走一轮|接着往下|继续往下"
    ),
    "optimize": (
        "提升|提升一下|再提升一点|打磨|打磨一下|收紧|收紧一点|收紧一些|再抠一抠|抠一抠|抠细一点|"
        "调得更准|调准一点|调得更准一点|再精确一点|精确一点|更精确一些|再准一点|再提高一点|改善|"
        "改善一下|做得更好些|再优秀一点|更好一些|再改善一点|优化得再好一点|"
        "优化|继续优化|再优化|进一步优化|接着优化|优化参数|优化一下|改进|改进一下|精调|微调|再改进|"
        "優化|做得更好|更好|优化元件值|优化数值|再好一点|好一点|好一些|优化设计|尽量优化|优化得更好|"
        "精益求精|再好点|调优|继续调优|继续调|继续调整|接着调|再调调|再调一下|继续改进|完善|再完善一下|"
        "更进一步|优化到最好|优化到位|优化到底|优化元件参数|优化元器件参数|优化所有参数|优化各元件"
    ),
    "fix": (
        "排查|排查一下|查错|搞好它|改好它|改好|把错误改掉|把错改掉|改掉错误|让它能仿真|让它收敛|"
        "让它跑起来|让它能跑|修复网表|修网表|修好网表|修电路|修复电路|修好电路|改正|改正过来|改对|"
        "处理|处理下|处理一下|处理掉|弄好|搞定它|修|修复|修正|修一下|改错|排错|解决|纠正|修好|纠错|排除|"
        "調試|调试|跑通"
    ),
    "accept": (
        "采用|采用这版|采用这个|保存|保存结果|就用这一轮|就用这一轮的|"
        "选定|选定它|敲定了|锁定|"
        "保存吧|存了吧|存下来吧|"
        "接受|接受设计|接收|采纳|通过|就这样定了|定了|就定|就它了|就这个|就这个了|就用这个|就要这个|"
        "就这样吧|同意这个设计|验收|认可|确认|保留这个设计|可以接受|就用它|定稿|保存这个版本|保存这一版|"
        "保存这版|保留这个版本|没意见|符合要求了|就它|"
        "就它吧|收下|收下了|就这版|就这个版本|就用这版|就这版吧|定下来|就定这个|敲定|拍板|签收|"
        "保留吧|保留它|保留|保留这一版|保留这版|就按这个|就按这个来|按这个来|就按这个定|按这个定|"
        "就按这版定|照这个定|"
        "就照这个|照这个来|就用这一版|就用这一个|就这一版|就用这个版本|"
        "就用当前版本|就用现在的|就用现在这个|就用现在这版|可以交差了|能交差了|交差|可以交付了|交付|"
        "可以收尾了|收尾|凑合用|凑合着用|凑合|凑合吧|将就用|将就|将就吧"
    ),
    "done": "完成|搞定|完成了|做完了|结束了|完工|收工|大功告成",
    "stop": (
        "停一会|停一会儿|别跑了|不跑了|别继续了|别再跑了|先这样|先这样吧|先不做了|挂起|先放一放|"
        "放一放|先搁着|"
        "先停一下|停一下|先停|先停停|先停下|"
        "暂停|先暂停|暂停一下|歇一下|歇一会|停|停止|停下|停下来|停在|停在这里|结束|终止|取消|中止|"
        "到此为止|不做了|算了|放弃|退出|停一停|"
        "停掉|到这里|到这|打住|停手|停了|停吧|不弄了|不搞了|退出设计|取消设计|停止设计|结束设计|"
        "停止运行|中断|结束吧|不继续了|不做下去了|停下吧|终止设计|先到这儿|先到这里|今天先到这|"
        "今天先到这儿|今天先到这里|"
        "今天就到这|今天就到这儿|今天就到这里|就到这儿|就到这里"
    ),
    "enough": "够了|足够|足够了|行了|不用了|不需要了",
    "undo": (
        "取消上一步|取消上一轮|取消这一步|取消这一次|退回上一轮|恢复到上一步|还原到上一步|"
        "回上一步|"
        "撤销|撤回|撤消|回退|回滚|退回上一步|取消这一轮|反悔|撤掉|撤销修改|撤销更改|撤销改动|"
        "还原上一步|退一步|作废|撤銷|取消修改|取消改动|撤销刚才的修改|撤销刚才的改动|撤销上一步|"
        "取消刚才的修改|不要这一轮|不要这轮|丢弃这一轮|改回去|改回来|恢复原样|撤回去|撤了|撤了吧|"
        "撤一步|撤销上一轮|撤回上一轮|撤回上一步|撤销这次修改|撤销这次改动|还原修改"
    ),
}

_COMBINED: tuple[tuple[Role, str, str], ...] = (
    (
        "undo",
        "undo |revert |reverse |scrap |discard |ditch |throw away |throw out |get rid of |take back |"
        "drop |throw |toss |"
        "chuck |bin |kill |remove |cancel ",
        "that change|this change|the change|the last change|that last change|your last change|your change|"
        "these changes|those changes|the last step|that step|that last step|this step|the last round|"
        "that round|this round|that last round|the last one|that one|the last attempt|that attempt|"
        "what you just did|what you did|the last edit|that edit|that last change away|that change away|"
        "the last change away|this change away|that round away|this round away|the last round away|that away",
    ),
    (
        "undo",
        "the previous version |the previous one |the last version |the version before |the one before |"
        "the earlier version |the earlier one |the old version |the old one |the circuit before |it ",
        "was better|was nicer|was better before|looked better|worked better|performed better",
    ),
    (
        "filler",
        "don't |do not |don't you |dont |without |no need to |please don't |not |shouldn't ",
        "change anything|changing anything|touch anything|touching anything|modify anything|edit anything|"
        "run anything|simulate anything|do anything|change anything yet|change the circuit|touch the circuit",
    ),
    (
        "filler",
        "i'll be back |be back |back |i'll continue |will continue |we'll continue |to be continued |"
        "i'll return ",
        "after lunch|after dinner|after the break|after the meeting|later|later today|tomorrow|soon|"
        "on monday|"
        "next week|in an hour|this afternoon|in the morning",
    ),
    (
        "filler",
        "午饭后|饭后|吃完饭|晚上|晚点|回头|下午|明早|明天|下周|周一|有空|等会|等会儿|一会儿|过会儿|开完会",
        "再说|再说吧|再做|再弄|再来|再看|再搞|再继续|接着弄|接着做|继续",
    ),
    (
        "undo",
        "之前的|之前那个|之前那版|上一版|原来的|原来那个|前面那个|前面那版|改之前的|旧的|旧版",
        "更好|好一些|比较好|好点|要好|好得多|好多了|更合适",
    ),
    (
        "filler",
        "i have to |i've got to |i must |i need to |i gotta |gotta |need to |have to |time to ",
        "leave|go|run|go home|leave now|go now|eat|sleep|get going|catch a train|get some sleep",
    ),
    (
        "filler",
        "我得|我要|得|该|要|我该|我先|先",
        "走了|下班了|吃饭了|去吃饭|睡了|睡觉了|回家了|开会了|去开会|出门了|下班",
    ),
    (
        "filler",
        "meets |meets all |it meets |it meets all |this meets |fulfils |fulfills |satisfies |"
        "satisfies all |within |"
        "matches |reaches |meeting |all within |meet ",
        "my needs|our needs|the needs|spec|specs|the spec|the specs|my spec|my specs|requirements|"
        "the requirements|"
        "my requirements|goals|the goals|my goals|targets|the targets|the target|the goal|expectations",
    ),
    (
        "filler",
        "until |till |til |as long as |if |unless |while |because |since |as ",
        "it's there|it is there|it's met|they're met|they are met|it meets|met|all met|all goals met|"
        "goals met|"
        "the goals are met|all goals are met|done|it's done|it works|it converges|it's good|it fits|"
        "it's right|"
        "it's not there yet|it's not there|it isn't there yet|not there yet|not met|it's not met|"
        "goals are not met|"
        "it's not good enough|it fails|needed|necessary",
    ),
    (
        "filler",
        "满足|满足了|达到|达到了|符合|没达到|没满足|没到|未达到|未满足|不满足|不符合|还没到|还没达到|"
        "只要没到|"
        "直到达到|直到满足|都满足|都达到",
        "需求|要求|指标|目标|预期|规格|需求了|要求了|指标了|目标了|预期了|规格了|我的要求|我的需求|"
        "所有指标|全部指标",
    ),
    (
        "undo",
        "roll |take |put |turn |bring |change |switch ",
        "that back|this back|it back|that change back|this change back|the change back|"
        "your change back|the last change back|your last change back|that edit back|the edit back|"
        "that one back|that step back|everything back",
    ),
    (
        "back",
        "put |take |bring |get |give |move ",
        "me back at|me back to|us back to|us back at|it back to|it back at|me back in|it back in",
    ),
    (
        "continue",
        "run |do |try |have |start |give me ",
        "another|another one|another iteration|another cycle|another pass|one more|one more iteration|"
        "the next|the next one|the next iteration|the next cycle|the next pass|a further one",
    ),
    (
        "filler",
        "until |till ",
        "it meets the spec|it meets the specs|it meets the goals|it meets all goals|"
        "it reaches the target|it hits the target|the spec is met|the specs are met|everything is met|"
        "all goals pass|it passes|they pass|all are met",
    ),
    (
        "accept",
        "i'm taking |i am taking |i'm going with |i am going with |taking |going with |i'll go with |"
        "we'll take ",
        "it|this|that|this one|that one|this version|that version|it as is|it as it is",
    ),
    (
        "stop",
        "先|暂时|今天|今天先",
        "不弄了|不搞了|不做了|不跑了|不继续了|放着|放着吧|放一放|到这|到这儿|到这里",
    ),
    (
        "filler",
        "改天|以后|回头|改日|明天|下次|晚点|有空|之后",
        "再说|再说吧|再弄|再做|再看|再看吧|再来",
    ),
    (
        "accept",
        "先|就先|也先|暂时",
        "用着|用着吧|用它|用它吧|这么用|这么用吧|这样用|这样用吧",
    ),
    (
        "filler",
        "刚改的|刚才改的|这次改的|刚才的改动|这次的改动|改得|刚做的改动",
        "不好|不行|不对|不理想|更差|更差了|变差了|不如之前",
    ),
    (
        "undo",
        "把刚才的修改|把刚才的改动|把刚才的更改|把刚才改的|把上一步|把上一轮|把这一轮|把这轮|把这次修改|"
        "把这次的修改|把刚才那步|把最后一步",
        "撤销|撤销掉|撤掉|撤回|取消|取消掉|退回|退掉|还原",
    ),
    (
        "continue",
        "another |one more |the next |keep it |keep on ",
        "loop|cycle|spin|pass|rolling|running|iterating|going please|looping",
    ),
    (
        "accept",
        "that's |that is |this is |it's ",
        "the circuit i want|the one i want|what i want|what i wanted|what i need|what i needed|the one|"
        "the winner|the final one|final|our circuit",
    ),
    (
        "filler",
        "that was |it was |this was |it is |that is |",
        "a bad change|a bad idea|a bad move|the wrong change|the wrong move|wrong change|worse now",
    ),
    (
        "filler",
        "直到|跑到|做到|只要|没|不|还没|要是没|如果没|如果不",
        "达标|达标为止|达标了|达标就|满足为止|合格|合格为止",
    ),
    (
        "continue",
        "再|重新|接着|继续|再多|再接着|再继续",
        "跑一遍|来一遍|试一遍|做一遍|仿真一遍|仿真一下|跑一下|跑跑|试试|跑一轮看看|跑两轮|试两轮|走一遍|"
        "算一遍|仿一遍|"
        "迭代|迭代几轮|迭代一轮|迭代一下|跑跑看|试试看|跑几次|跑",
    ),
    (
        "undo",
        "用|还是用|用回|换回|回到|恢复|恢复到|退回|退回到|改回|还是要|要|还原成|还原到",
        "之前的|之前的版本|之前那个|之前那版|原来的|原来的版本|原来那个|以前的|以前的版本|以前那个|旧版|"
        "旧的|老版本|改之前的|修改前的|"
        "修改之前的",
    ),
    (
        "accept",
        "i'm happy with |i am happy with |we're happy with |i'm satisfied with |i am satisfied with |"
        "i'm pleased with |i'm fine with |i'm ok with |i can live with ",
        "it|this|that|this one|that one|the design|the result|the results|this result|this version|"
        "this design|the circuit|this circuit|how it is|these results",
    ),
    (
        "stop",
        "enough |that's enough |that is enough |that's all |that is all |that will be all |no more ",
        "for today|for now|for me|for tonight|of this|rounds|rounds please",
    ),
    (
        "accept",
        "就用|使用|采用|选用|要|就要|用|接受|保留|定",
        "这个版本|这个方案|这个电路|这个设计|这个结果|当前版本|当前方案|当前设计|现在的版本|目前的版本|"
        "这版|这一版|"
        "这套参数|这组参数|这个了",
    ),
    (
        "accept",
        "按这个|就按这个|按这版|就按这版|按这一版|就按这一版|照这个|就照这个|照这版|以这个|就以这个|"
        "以这版|用这个|就用这个|"
        "用这版|就用这版|这个|这版",
        "定稿|定案|定版|来定稿|交付|交差|交货|为准",
    ),
    (
        "undo",
        "撤销|撤回|撤掉|取消|回退|退掉|还原|去掉|不要|放弃",
        "刚才那步|刚才这步|刚才那一步|刚刚那步|那步|那一步|这步|这一步|刚才的修改|刚才的改动|刚才改的|"
        "刚改的|这个改动|"
        "这次改动|那个改动|上次修改|刚才那轮|刚才这轮",
    ),
    (
        "undo",
        "刚才那步|刚才这步|刚才那一步|刚刚那步|那步|那一步|这步|这一步|上一步|刚才的修改|刚才的改动|这个改动|"
        "这次改动|那个改动|这次修改|上次修改|刚才那轮|这一轮|上一轮",
        "不要了|不要|作废|不算|不算数|去掉|撤掉|退掉|收回|还是退回去|改得不好",
    ),
)
"""Phrases of a role made of a beginning and an end, each with each."""

_TAGS = (
    "would you please", "would you", "could you", "will you", "can you", "won't you", "shall we", "right",
    "okay", "ok", "please", "好不好", "行不行", "可以吗", "可以嗎", "好吗", "好嗎", "行吗", "成吗", "吧",
)  # fmt: skip

_ENGLISH_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "initial": 1, "original": 1, "previous": -1, "last": -1, "preceding": -1,
}  # fmt: skip
_NUMBERS = {
    **_ENGLISH_NUMBERS,
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_COUNTED = "|".join(_ENGLISH_NUMBERS)
_ROUND = re.compile(
    r"(?:round|iteration|version)\s?(?:no\.?\s?|number\s?|nr\.?\s?|#\s?)?(?P<behind>\d{1,4}|"
    rf"(?:{_COUNTED}))\b"
    rf"|(?P<before>\d{{1,4}}(?:st|nd|rd|th)|(?:{_COUNTED}))\s"
    r"(?:round|iteration|version|design|circuit|attempt|state|result|one)\b"
    rf"|(?P<count>(?:\d{{1,3}}|{_COUNTED})\s(?:more\s)?(?:rounds|iterations)|(?:\d{{1,3}}|[二两三四五六七八九十])\s?轮)"
    r"|第\s?(?P<han>\d{1,4}|[一二三四五六七八九十两])\s?(?:轮|輪|版|次|回)"
    r"|(?P<former>(?:上|前)(?:一)?个?(?:轮|輪|版|次))"
    r"|(?P<start>最初的?|最开始的?|一开始的?|原来的?|原始的?)(?:那轮|那版|版本|设计|电路)?"
)
_VALUE = re.compile(
    r"[-+±]?\d[\d.,]{0,20}\s?(?:%|°c|[pnuμmkgt]?(?:ohms?|hz|db|v|a|f|h|s|w|ω)\b|meg|[kmgnpuμ]\b)?"
    r"(?:\s?(?:欧姆|欧|伏|安|赫兹|赫|法|亨|秒|毫秒|微秒|分贝|瓦|倍|千欧))?"
)
_PERCENT = re.compile(r"百分之\s?(?:\d[\d.]{0,20}|[零〇一二两三四五六七八九十百点]{1,8})")
_DESIGNATOR = re.compile(r"(?:[rclqmdvixu]|rf|rin|rl|cf|cl)_?\d{1,3}[a-z]?\b")
_WORD = re.compile(r"[a-z][a-z'0-9]*(?:-[a-z0-9']+)*")
_QUOTED = re.compile(
    r"\"[^\"]{1,300}\"|“[^”]{1,300}”|‘[^’]{1,300}’|「[^」]{1,300}」|『[^』]{1,300}』|`[^`]{1,300}`"
    r"|(?<![\w])'[^'\n]{1,300}'(?![\w])"
)
_QUOTE = "\u0001"
"""Where a quotation stood."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_PAUSES = frozenset(",;.:、。!?\n")
_MOST_WORDS = 8
_LEAST_FOR_TYPOS = 5
_COMMANDS: tuple[Role, ...] = ("continue", "optimize", "accept", "undo")


def plain(text: str) -> str:
    """In half-width characters and small letters, with single blanks and straight apostrophes."""
    joined = unicodedata.normalize("NFKC", text.replace("“", '"').replace("”", '"')).lower()
    return " ".join(joined.replace("’", "'").replace("‘", "'").replace("…", "...").split())


def phrases(text: str) -> tuple[Phrase, ...]:
    """The phrases of a text in the form of `plain`, in order; linear in its length."""
    return tuple(_phrases(_QUOTED.sub(f" {_QUOTE} ", text)))


@cache
def _english() -> Mapping[tuple[str, ...], Role]:
    """Phrases by their words; of one in two roles the later role counts."""
    return {
        tuple(_words_of(phrase)): role
        for role, listed in (*_ENGLISH.items(), *_combined())
        for phrase in listed.split("|")
        if phrase.isascii()
    }


@cache
def _chinese() -> Mapping[str, Role]:
    return {
        phrase: role
        for role, listed in (*_CHINESE.items(), *_combined())
        for phrase in listed.split("|")
        if not phrase.isascii()
    }


def _combined() -> Iterator[tuple[Role, str]]:
    for role, starts, ends in _COMBINED:
        yield role, "|".join(start + end for start in starts.split("|") for end in ends.split("|"))


@cache
def _longest_chinese() -> int:
    return max(map(len, _chinese()))


def without_tag(sentence: str) -> str | None:
    """A sentence without the polite question at its end (", would you", "好吗"); None when it has none."""
    for tag in _TAGS:
        if sentence.endswith(tag):
            rest = sentence[: -len(tag)]
            is_apart = not tag.isascii() or rest[-1:] in {",", " "}
            if is_apart and rest.strip(" ,"):
                return rest.strip(" ,")
    return None


def _words_of(phrase: str) -> list[str]:
    return _WORD.findall(phrase)


def _phrases(text: str) -> Iterator[Phrase]:
    position = 0
    while position < len(text):
        letter = text[position]
        named = None if _is_inside_a_word(text, position) else _ROUND.match(text, position)
        if named is not None:
            yield Phrase("round", _number_of(named))
            position = named.end()
        elif letter.isascii() and letter.isalpha():
            position, phrase = _english_phrase(text, position)
            yield phrase
        elif letter.isdecimal() or (letter in "+-±" and text[position + 1 : position + 2].isdecimal()):
            value = _VALUE.match(text, position)
            position = value.end() if value is not None else position + 1
            yield Phrase("value")
        elif percent := _PERCENT.match(text, position):
            position = percent.end()
            yield Phrase("value")
        elif _HAN.match(letter):
            position, phrase = _chinese_phrase(text, position)
            yield phrase
        else:
            position += 1
            if letter == _QUOTE:
                yield Phrase("quote")
            elif letter in _PAUSES:
                yield Phrase("pause")
            elif letter.isalpha() or unicodedata.category(letter) in {"Sm", "Sc"}:
                yield Phrase("other")


def _is_inside_a_word(text: str, position: int) -> bool:
    before = text[position - 1 : position]
    return text[position].isascii() and before.isascii() and before.isalnum()


def _number_of(found: re.Match[str]) -> int:
    if found["count"]:
        return COUNTED
    if found["former"]:
        return -1
    if found["start"]:
        return 1
    word = found["behind"] or found["before"] or found["han"]
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdecimal() else _NUMBERS[word]


def _english_phrase(text: str, position: int) -> tuple[int, Phrase]:
    if named := _DESIGNATOR.match(text, position):
        return named.end(), Phrase("part")
    words: list[str] = []
    ends: list[int] = []
    at = position
    while len(words) < _MOST_WORDS and (word := _WORD.match(text, at)):
        words.append(word[0])
        ends.append(word.end())
        at = word.end()
        if text[at : at + 1] != " ":
            break
        at += 1
    for count in range(len(words), 0, -1):
        role = _english().get(tuple(words[:count]))
        if role is not None:
            return ends[count - 1], Phrase(role)
    return ends[0], _misspelled(words[0])


def _misspelled(word: str) -> Phrase:
    """A checkpoint's own word with one wrong letter; anything else is not known. Inflections are no typos."""
    if len(word) >= _LEAST_FOR_TYPOS:
        for known, role in _english().items():
            if role not in _COMMANDS or len(known) != 1 or len(known[0]) < _LEAST_FOR_TYPOS:
                continue
            if not word.startswith(known[0]) and _is_near(word, known[0]):
                return Phrase(role, is_typo=True)
    return Phrase("other")


def _is_near(word: str, known: str) -> bool:
    """Whether one letter is wrong, missing or too many, or two neighbours are exchanged."""
    if abs(len(word) - len(known)) > 1:
        return False
    same = next((n for n, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), None)
    if same is None:
        return True
    rest, other = word[same:], known[same:]
    return (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )


def _chinese_phrase(text: str, position: int) -> tuple[int, Phrase]:
    known = _chinese()
    for length in range(min(_longest_chinese(), len(text) - position), 0, -1):
        role = known.get(text[position : position + length])
        if role is not None:
            return position + length, Phrase(role)
    return position + 1, Phrase("other")
