"""The vocabulary of texts typed at a checkpoint: English and Chinese words and phrases by what they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Role = Literal[
    "filler", "pause", "not", "yes", "but", "concede", "if", "asks", "wish", "hint", "tell", "new", "change",
    "pick", "edit", "wants", "part", "quantity", "goal", "round", "back", "error", "value", "quote", "other",
    "continue", "optimize", "fix", "accept", "stop", "undo", "enough", "done",
    "it", "deed", "more", "before", "throw", "do", "hand", "better", "worse", "met", "until", "glad", "own",
    "later", "look",
]  # fmt: skip
"""filler: nothing is meant by it; asks: makes a question; wish: politeness put as one ("could you"); hint:
"how about"; tell: "explain"; new: another circuit is described; change: something becomes another; pick:
"use"; concede: "even though", "doesn't matter"; edit: a change, also of goals; part, quantity: what a circuit
has. From "continue" to "done" they are a checkpoint's own words. Those behind only join others: it: the
design; deed: what was done to it; throw: "scrap"; hand: "give me"; met: "达标"; glad: "happy with"; own:
"the values", which whatever is optimized has; later: "for today"."""

ENGLISH: Mapping[Role, str] = {
    "filler": (
        "looks like|seems like|sounds like|feels like|"
        "please|pls|plz|kindly|thanks|thank you|thx|cheers|well|so|then|now|right|alright|hm|hmm|um|uh|ah|oh|"
        "let's|lets|let us|let me|i would like to|i'd like to|i want to|i want you to|i think|i guess|"
        "i suppose|we can|we should|you can|you may|we|i|i'd|i'll|i'm|we'll|we're|i've|we've|i am|they|"
        "they're|just|simply|go ahead and|a|an|the|here|there|all|and|to|for|of|in|on|at|is|are|be|was|were|"
        "been|being|me|us|you|my|our|your|bit|a tad|little|a lot|more|some|even|further|as|like this|u|ur|"
        "imo|imho|tbh|btw|afaik|gonna|wanna|gotta|immediately|also|too|yet|still|already|really|quite|pretty|"
        "very|much|far|hey|hi|guys|dear|sir|mate|man|folks|by|hello|good morning|good evening|maybe|perhaps|"
        "any|time|actually|ahead|from|up|sorry|oops|sure thing|no more than|not more than|no less than|"
        "not less than|no greater than|not greater than|no higher than|not higher than|no lower than|"
        "not lower than|not exceed|not to exceed|not exceeding|wouldn't hurt|would not hurt|anyway|"
        "nevertheless|regardless|changed my mind|see|nicely|out|off|has|had|got|anymore|if possible|"
        "if you can|if it can be done|no longer needed|goes nowhere|minute|moment|final|finally|them|"
        "straight|because|since|cause|fully|totally|completely|entirely|absolutely|honestly|i mean|this time|"
        "that's|it's|there's|with it|with this|with that|i have to leave|i have to go|i've got to go|"
        "i must go|i need to go|gotta run|have to run|time to go|at this point|as the final design|"
        "another day|wait|hang on|let me think|thinking|a while|as before|say|into|bro|dude|buddy|team|ok so|"
        "anyhow|in general|overall|clearly|obviously|slightly|somewhat|instead of that|kind of|sort of|"
        "good luck|no rush|quickly|quick|same as before|whatever|gets|getting|with thanks|with pleasure|"
        "in mind|in total|if you like|if you want|as you like|whenever|whenever you want|by the way|"
        "one thing|in that case|meanwhile|on my side|from my side|this is it|could be better|can be better|"
        "might be better|could be improved|i've seen|below|under|above|over|couple of|few|several|bunch of"
    ),
    "it": (
        "it|this|that|these|one|anything|the run|process|version|stuff|design|circuit|result|solution|job|"
        "work|outcome|candidate|as is|winner|snapshot|setup|proposal|configuration|direction|approach|thing|"
        "lot|state|shape|everything|current version|current one|current design|current state|current result|"
        "current solution|current circuit|current values|the current|present version|whole thing|simulator|"
        "session|project"
    ),
    "deed": (
        "step|modification|what you just did|what you did|what you have done|what you've done|last|latest|"
        "most recent|those|what you changed|what was changed|whatever you did|what you've changed"
    ),
    "more": (
        "another|one more|once more|again|once again|one more time|further one|a further|a new|a fresh|"
        "one last|one final|a last"
    ),
    "before": (
        "before|previous|former|earlier|older|old|preceding|prior|how it was|how things were|what we had|"
        "what it was|way it was"
    ),
    "throw": (
        "scrap|discard|ditch|throw|toss|chuck|bin|kill|trash|dump|drop|get rid of|remove|away|scratch|nix|"
        "strike|yank|pull"
    ),
    "do": "do|try|give|give it|roll|perform|let it|to the|have",
    "hand": "give me",
    "better": "better|closer|tighter|finer|more accurate|more exact|more precise|sharper",
    "worse": (
        "worse|bad|wrong|worst|poorer|something's off|something is off|something's wrong|something is wrong|"
        "looks wrong|a mistake|not what i wanted|backwards|nonsense|a disaster|terrible|awful|horrible|"
        "dislike|don't like|do not like|hate|don't love|not a fan of|no good|no better|not better|"
        "not an improvement|no improvement|didn't help|did not help|doesn't help"
    ),
    "met": (
        "meet|met|fulfil|fulfill|satisfy|satisfies|reach|match|miss|passes|it's there|fails|fits|hit|achieve"
    ),
    "until": "until|till|til",
    "glad": (
        "happy|satisfied|pleased|content|fine with|ok with|happy with|satisfied with|pleased with|"
        "content with|i like|we like|can live with"
    ),
    "own": "netlist|file|value|component|parameter|part|component values",
    "later": (
        "today|tonight|tomorrow|later|for now|after lunch|after dinner|after the break|after the meeting|"
        "soon|on monday|next week|in an hour|this afternoon|in the morning|after work|next time|the weekend|"
        "this evening|for the day|some other time|another day|another time|some other day"
    ),
    "pick": (
        "pick|choose|use|take|keep|select|go with|going with|go for|settle for|settle on|stick to|stick with|"
        "prefer|leave it at|adopt|lock|seal|stay with|settle with|hold|reload|recall|retrieve|fetch|preserve|"
        "store"
    ),
    "other": "unhappy|don't you",
    "not": (
        "not good enough|not enough|not good|nope|nah|not|don't|dont|do not|doesn't|does not|never|no|won't|"
        "will not|wouldn't|can't|cannot|didn't|did not|isn't|aren't|without|no need to|shouldn't|should not|"
        "neither|nor|rather not|must not|mustn't"
    ),
    "yes": (
        "ok|okay|okey|k|yes|yep|yeah|yup|aye|sure|fine|good|great|perfect|nice|cool|excellent|good job|"
        "sounds good|agree|of course|certainly|well done|lovely|brilliant|superb|awesome|neat|looks good|"
        "looks great|looks fine|looks right|looks alright|looks ok|looking good|that works|works for me|"
        "i like it|would be enough|would do|would suffice|is plenty|fair enough|spot on|nailed it|bang on|"
        "on the money|does the job|does the trick|not bad|good stuff|great job|good work|nice one|nice work|"
        "great work|splendid|fantastic|wonderful|amazing|impressive|beautiful|sweet|solid|wow|bravo|congrats|"
        "kudos|top|no objections|no complaints|roger|right on|exactly|that's right|much better|looks nice|"
        "seems fine|seems good|acceptable|reasonable|decent|liked that one|liked it|liked that|preferred that"
    ),
    "concede": (
        "i know|i am aware|i'm aware|even though|even if|despite|in spite of|knowing|admittedly|"
        "doesn't matter|does not matter|never mind|nevermind|no matter|i don't mind|don't care|no big deal|"
        "who cares|i can live with|is tolerable|is acceptable|not important|isn't important|"
        "isn't that important|isn't so important|not that important"
    ),
    "but": "but|however|except|although|though|only|with|using|while|instead|instead of|rather|besides",
    "if": (
        "if|unless|when|once|after|as soon as|as long as|provided|provided that|in case|otherwise|else|"
        "suppose|assuming|would"
    ),
    "asks": (
        "what|what's|wat|why|why's|how|how's|howcome|how'd|which|who|whom|whose|where|where's|when's|whether|"
        "wonder|don't understand|do not understand|didn't understand|don't get|not clear to me|confused|"
        "curious|any idea|any chance|can i|could i|may i|should i|should we|shall we|shall i|is it|is this|"
        "is that|is there|are there|are these|are we|does it|does this|does that|did it|did you|do we|do i|"
        "do you|have you|has it|was it|was that|will it|would it|can it|could it|am i|isn't it|doesn't it|"
        "question|to know|let me know|interested in|any ideas|how long|could they|can they|do they|are they|"
        "should it|what if|when will|not sure why|not sure how|not sure what|opinion|thoughts|recommend|"
        "can the|could the|should the|would the|will the|might it|is there any way|what about the|"
        "i'd like to understand|i want to understand|can't see why"
    ),
    "wish": (
        "can you|could you|would you|will you|can u|could u|would u|can ya|can we|could we|would you mind|"
        "would it be possible to|is it possible to|mind"
    ),
    "tell": (
        "explain|tell|show|describe|compare|summarize|list|elaborate|clarify|help me understand|"
        "walk me through|print|display|teach|plot|draw|graph|calculate|compute|estimate|evaluate|outline|"
        "recap|remind me|quantify|predict|walk me|talk me through|give an overview|clue me in"
    ),
    "hint": "how about|what about|why don't we|why don't you|why not|what if we|what if you|maybe we could",
    "change": (
        "split|merge|replace|swap|make|put|add|delete|take out|insert|connect|increase|decrease|reduce|lower|"
        "raise|double|halve|move|limit|simplify|minimize|maximize|avoid|convert|scale|round off|allow|"
        "exchange|substitute|bypass|widen|narrow|aim|switch|leave|ensure|bring|get|give it a|give it an|bias|"
        "shorten|rename|lose|exclude|include|focus|first|stick|try a|try an|try the|try using|try some|"
        "try with|test with|cut|trim|boost|strengthen|weaken|push|bump|check|verify|triple|quadruple|place|"
        "wire|solder|cascade|stack|beef up|step up|crank|lift|shrink|enlarge|upsize|downsize|derate|decouple|"
        "isolate|damp|compensate|degenerate|clamp|protect|shield|invert|flip|reposition|tie|couple|combine|"
        "separate|extend|tame|eliminate|suppress|prevent|stabilize|smooth|linearize|balance|center|align|"
        "resize|retune|rescale|recompute|redesign|restructure|prioritize|optimise for|optimize for|lengthen|"
        "introduce|apply|mount|up the|play with|experiment with|favor|favour|rotate|specify|power it|"
        "supply it|run it from|drive it"
    ),
    "wants": (
        "need|want|wants|must|should|wish|like|have to|has to|ought to|i'd rather have|i would rather have|"
        "i'd rather|would rather"
    ),
    "edit": (
        "change|edit|modify|adjust|alter|forget the|forget that|never mind the|skip the|relax|loosen|update|"
        "revise|set|redefine|reconsider|shift|rework|ignore|disregard|waive|rewrite|redo|rethink|revisit"
    ),
    "part": (
        "resistor|capacitor|cap|inductor|coil|diode|schottky|zener|transistor|mosfet|bjt|jfet|fet|opamp|"
        "op-amp|op amp|supply|rail|load|source|e3|e6|e12|e24|e48|e96|e192|series|tolerance|stage|topology|"
        "feedback|buffer|output|input|order|model|snubber|ferrite|transformer|package|smd|analysis|analyses|"
        "sweep|standard|esr|esl|cascode|darlington|current mirror|follower|push-pull|class ab|"
        "differential pair|long-tailed pair|common base|common emitter|bootstrap|pcb|node|ground|layout|"
        "chebyshev|butterworth|bessel|sallen-key|mfb|buck|boost converter|ldo|filter|amplifier|converter|"
        "regulator|oscillator|simulation time|time step|timestep|rest|others|electrolytic|ceramic|tantalum|"
        "film cap|film caps|ceramic caps|core|winding|heatsink|heat sink|fuse|relay|trace width|comparator|"
        "reference|bridge|rectifier|choke|bead|divider|network|pot|trimmer|potentiometer|controller|driver|"
        "gate resistor|smd parts|through-hole|pin|connector|colpitts|wien|hartley|pierce|crystal|"
        "multivibrator|darlington pair|totem pole|igbt|gan|sic|led|zener diode|schottky diode|op-amps|bom"
    ),
    "quantity": (
        "cost|supply current|quiescent current|bias current|load current|input current|output current|"
        "input impedance|output impedance|input resistance|output resistance|output voltage|output power|"
        "output noise|input noise|output swing|load regulation|line regulation|short|nicer|cheaper|cheap|"
        "expensive|noise|noisy|quieter|bandwidth|slew|slew rate|temperature|bigger|smaller|larger|higher|"
        "faster|slower|less|trace|current|voltage|power|efficiency|ripple|overshoot|gain|phase|margin|"
        "impedance|resistance|frequency|cutoff|cut-off|cut off|corner|q|peaking|attenuation|stopband|"
        "passband|stop band|pass band|stop-band|pass-band|distortion|thd|area|size|oscillation|ringing|"
        "flatness|response|settling|rise time|stability|stable|performance|accuracy|precision|sensitivity|"
        "spread|swing|regulation|psrr|cmrr|snr|offset|drift|jitter|rejection|dropout|headroom|loss|startup|"
        "start-up|emi|footprint|dissipation|linearity|undershoot|louder|cleaner|hotter|cooler|hot|"
        "temperature rise|transient|load transient|group delay|pole|zero|crossover|loop gain|slope|roll-off|"
        "rolloff|saturation|clipping|crosstalk|hum|standby current|leakage|inrush|peak current|delay|"
        "amplitude|duty cycle|duty|switching frequency|price|weight|height|lifetime|reliability|"
        "safety margin|lower noise|hysteresis|threshold|dc offset|bias point|operating point|dynamic range|"
        "input range"
    ),
    "goal": "goal|target|spec|specification|requirement|limits|objective|my needs|criteria|limit to|limit on",
    "new": (
        "design a|design an|design me a|design me an|design another|build a|build me a|create a|a new circuit"
    ),
    "round": "round|iteration|turn|loop|cycle|pass|spin|shot|attempt|go at it|chance|run at it|lap|bite",
    "back": "back|go back|return|revert to|roll back to|rollback to|restore|go to|jump back|reset to",
    "error": (
        "error|failure|problem|mistake|simulation|sim|convergence|issue|bug|fault|aborted|crash|failed|"
        "did not converge|didn't converge|does not converge|doesn't converge|broken|bombed|blew up|choked|"
        "does not simulate|doesn't simulate|doesn't run|does not run|won't run|won't converge|won't simulate|"
        "singular matrix|timestep too small|time step too small|stuck|died|blows up|exploded|error message|"
        "complaint|complains"
    ),
    "continue": (
        "start|begin|continue with|proceed|proceed with|move on|go on with|advance|roll on|iterate|continue|"
        "next|keep on|keep at it|keep trying|keep working|keep running|keep it up|carry on|resume|onward|"
        "go for it|run|rerun|re-run|simulate|retry|press on|push on|go|step forward|go to the next|rolling|"
        "crack on|get on with it|on with it|push forward|move ahead|go forward|fire away|get going|"
        "forge ahead|keep moving|keep pushing|keep the ball rolling|hit it|keep it coming|send it|"
        "do your thing|same again|let it rip|go go|kick off|kick it off"
    ),
    "optimize": (
        "tweak|hone|enhance|squeeze|tighten|sharpen|optimize|optimization|fine tune|fine-tune|finetune|"
        "improve|tune|try harder|do your best|refine|polish|push further|push it further|get more out|"
        "dial it in|dial in|nudge|work on it|perfect it|maximize it"
    ),
    "fix": (
        "cure|remedy|troubleshoot|find the bug|find the error|find the mistake|make it simulate|"
        "make it converge|get it to converge|get it to simulate|get it to run|make it work|get it running|"
        "make it run|look into|take care of|deal with|handle|sort out|sort it out|sort this out|"
        "sort that out|clear up|fix|repair|debug|solve|resolve|correct|clean up|iron out|"
        "get rid of that error|patch|mend|put right|straighten out|get it fixed|get that fixed|"
        "get this fixed|unbreak|take a look at"
    ),
    "accept": (
        "save|commit|freeze|looks final|make it final|accept|accepted|approve|approved|lgtm|ship|good enough|"
        "that's it|that is it|good to go|sign off|sign it off|a keeper|that's the one|this is the one|"
        "that is the one|wrap it up|wrap up|wrap this up|call it done|call it finished|i'm sold|finalize|"
        "what i wanted|what i want|what i need|what i needed|the winner|our circuit|release it|call it final|"
        "a wrap|done deal|deal|i'm good|signed off|job done|good for production|ready for layout|tape out|"
        "tape it out|we have a winner|endorse|close enough|near enough"
    ),
    "done": "done|finish|finished|complete|completed|finishing",
    "stop": (
        "suspend|close it|finish here|leave off|stand by|hold on|hold off|knock it off|stop|stopping|pause|"
        "paused|hold it here|take a break|cancel|abort|quit|exit|halt|end|give up|leave it|terminate|"
        "call it off|forget it|break off|call it a day|abandon|shut it down|let it be|drop it|"
        "drop the whole thing|leave it alone|that's all|that will be all|i'm out|kill it|pull the plug|"
        "call it quits|i've had enough|take five|shut down|park it|shelve it|put it on hold|on hold|"
        "sleep on it|stand down|time out|bail|end of story|forget the whole thing|scrap the whole thing|"
        "cut it off|wind down|wind it down"
    ),
    "enough": "enough|that will do|that'll do|no more|nothing more|leave it at that",
    "undo": (
        "rewind|unwind|step back|go one step back|go a step back|undo|revert|rollback|take back|reverse|"
        "back out|back one|ctrl z|as you were|go back one"
    ),
}
CHINESE: Mapping[Role, str] = {
    "pause": "呢,",
    "look": "看看|看|瞧瞧|瞅瞅|了解",
    "pick": "用|使用|采用|选|选用|选择|要用|选定|保留|照|按|按照|留",
    "other": "接受不了|无法接受|不能接受|受不了|好久|好像|好奇|好难|好多|好几|好贵|好慢|可以说|不可以",
    "filler": (
        "你好|您好|你好吗|大家好|早上好|晚上好|下午好|请|麻烦|劳驾|帮我|帮忙|我想|我要|谢谢|多谢|谢了|辛苦|"
        "吧|了|啊|呀|哦|噢|嗯|哈|哎|唉|喽|啦|呗|就|那|那么|这样|这么|点|下|又|也|都|先|现在|然后|接下来|"
        "马上|直接|的|地|得|把|将|我|我们|咱们|咱|你|去|到|在|往|给|是|有|个|这里|这儿|此|进行|稍微|更|"
        "进一步|之后|以后|暂时|可能|也许|大概|已经|非常|很|太|真|好的话|全部|所有|一|并且|而且|以及|和|及|"
        "老师|大哥|亲|兄弟|哥们|不大于|不高于|不多于|不得超过|不能超过|不少于|不小于|不低于|不超过|請|幫我|"
        "謝謝|這樣|挺|蛮|上|里|好好|看起来|差不多|说|话|完|再说|改主意了|手上|拜托|反正|自己|能的话|"
        "可以的话|行的话|这样子|还|从|整体|掉|嘞|哟|咯|些|着|儿|吃完|本来|再次|别管我|不用管我|靠谱|等等|"
        "等一下|等下|让我想想|我想想|想想|一会|放心|随便|记得|顺手|稍|略|略微|尽快|快点|赶紧|不着急|不急|"
        "老板|师傅|同学|朋友|该|被|让它|对了|其实|确实|感觉|觉得|基本|总体|总的来说|按原计划|嗯呐|嘿|着呢|"
        "毕竟|条|款|一句|一声|一阵|麻烦你了|反而|反倒|居然|竟然|倒|想办法|不能小于|不能低于|不能少于|"
        "不得低于|不得小于|不得少于|别超过|别低于|不能大于|不能高于|不得大于|不得高于|不要超过|不要低于"
    ),
    "it": (
        "它|这|那个|结果|设计|电路|方案|本轮|这轮|这一轮|这版|这一版|当前|这個|這個|這|版本|那版|现在的|"
        "这套|这组|当前版本|这次|现有|最新|思路|方向|节奏|目前|参数组合|样子|水平"
    ),
    "deed": (
        "刚才|刚刚|刚才那轮|刚才这轮|那轮|那一轮|这一步|上一步|那步|那一步|这步|最后一步|改动|刚改|最后|"
        "最近|前一步|这个修改|改的"
    ),
    "more": "再|重新|再多|多",
    "before": "之前|以前|前面|旧版|旧的|老版本|改之前|修改前|修改之前|原样",
    "throw": "丢弃|丢掉|扔掉|去掉",
    "do": "弄|来|做|试|算|搞|干|仿|走|循环|试试|整|折腾|努力|下去|起来|走一走|带|领",
    "better": "更好|好一些|比较好|好点|更合适|好一点|再好|准|精确|准确|好得多|好多了|要好|更优|精细|细",
    "worse": (
        "不好|不对|不理想|变差|变糟|变坏|改错|白改|更坏|退步|坏了|不太对|不太行|糟|糟糕|搞没|弄没|搞砸|弄坏|"
        "搞坏|差|不喜欢"
    ),
    "met": "达标|满足|达到|符合|合格|全过|都过|没到|到位",
    "until": "直到|为止|直至",
    "glad": "满意|喜欢",
    "own": "网表|值|参数|元件|元件值|数值|元器件|元器件参数|元件参数|各元件",
    "later": (
        "今天|明天|改天|下次|晚点|回头|改日|下周|有空|明早|午饭后|饭后|周一|晚上|等会|过会儿|开完会|走了|"
        "下班|吃饭|睡觉|睡了|回家|开会"
    ),
    "not": (
        "不要|不行|不够|不够好|没过|还不好|差一点|差点|不|别|不用|不必|没|勿|莫|不能|不想|不许|不准|不应该|"
        "无需|別|暂不|不让|未|别再|没啥|没什么|没有什么|没多大"
    ),
    "yes": (
        "好|行|可以|没问题|对|是的|嗯嗯|同意|不错|中|成|妥|好极了|赞|完美|当然|漂亮|棒|干得漂亮|干得好|给力|"
        "优秀|没毛病|没啥问题|没什么问题|过关|理想|合适|不赖|看着不错|看着行|正合适|能接受|还能接受|也能接受|够用|够用了|也够用|足够用|没啥意见"
    ),
    "concede": (
        "我知道|虽然|尽管|即使|哪怕|就算|虽说|没关系|没事|无所谓|不要紧|不碍事|不影响|能忍|可以忍|问题不大|"
        "不重要"
    ),
    "but": "但|不过|可是|然而|只|只要|除了|另外|同时|顺便|而|却|但要|其中|尤其|特别|就是",
    "if": "如果|要是|假如|若|除非|等|一旦|当|万一|的话|时候|否则|不然|才|前提|只有",
    "asks": (
        "什么|为什么|为何|为啥|啥|怎么|怎样|怎么样|如何|多少|多大|多高|多久|哪|吗|么|呢|嘛|谁|几|是否|"
        "什么意思|意思|能不能接受|能否接受|可以接受吗|不明白|不懂|没看懂|看不懂|不理解|不清楚|疑问|想知道|"
        "请问|问一下|问题是|甚么|為什麼|怎麼|嗎|好不好用|还是说|难道|何|要几轮|还有几轮|还剩几轮|多少轮|"
        "几轮才|咋|咋样|咋办|想了解|了解一下|不知道|疑惑|有办法|有可能|是指|指的是|区别|多长|多快|多重|多宽|"
        "多厚|多远|多早|多小|多深"
    ),
    "wish": "能不能|可不可以|能否|可否|可以不可以|能|能够|可以帮我|麻烦你|方便",
    "tell": (
        "解释|说明|告诉|讲讲|说说|说一下|介绍|比较|对比|列出|总结|显示|分析|给我看|描述|展示|评价|讲|列|画|"
        "画出|科普|评估|汇报|报告|概括|贴|打印|算一下|算算|估算|估一下|计算|讲解|盘点|回顾|报一下|比一比|"
        "比比|相比|对照|比起来|看得出"
    ),
    "hint": "要不|不如|要么|不妨|何不",
    "change": (
        "换|换成|替换|改成|改为|改到|改用|加|增加|添加|减|减小|减少|删|删除|移除|提高|降低|降|升|升高|增大|"
        "加大|变大|变小|调大|调小|调高|调低|调到|缩小|保持|限制|尽量|禁止|避免|设|设为|设成|设置|取|取为|接|"
        "连接|断开|并联|串联|并|串|简化|优先|考虑|让|使|加倍|减半|翻倍|固定|压低|压|拉高|換成|換|改小|改大|"
        "变成|控制|别动|不动|去除|拆|移|削|补|动|消掉|挪|放到|放在|跨接|旁路|去耦|退耦|滤|抑制|消除|避开|"
        "兼顾|照顾|平衡|匹配|屏蔽|保护|钳位|限流|扩大|抬高|抬|拔高|收窄|展宽|拓宽|分成|拆成|合并|砍|翻一倍|"
        "翻一番|放大点|缩短|延长|拉长|替代|代替|换用|改接|补偿一下|留余量|加粗|缩|多留|收一收|加一级|省|"
        "定在|定到|定为"
    ),
    "wants": "才行|才可以|才够|需要|必须|希望|应|要|想要|想|最好",
    "edit": (
        "不管|不要求|不再要求|改|修改|变更|调整|调|放宽|放松|编辑|改变|更新|重设|重新设|降到|升到|提到|"
        "提高到|降低到|修订|不用管|别管|不必管|不用考虑|忽略|不作要求"
    ),
    "part": (
        "电阻|电容|电感|二极管|三极管|晶体管|场效应管|运放|运算放大器|电源|供电|负载|信号源|器件|零件|阻值|"
        "容值|感值|系列|标称值|公差|精度|拓扑|反馈|缓冲|阶数|模型|开关管|变压器|磁芯|切比雪夫|巴特沃斯|"
        "贝塞尔|運放|電阻|電容|两级|级|工艺|接地|节点|仿真时间|补偿|共射共基|共源共栅|达林顿|电流镜|射随|"
        "射极跟随器|源跟随器|推挽|差分对|有源负载|自举|滤波器|放大器|变换器|稳压器|振荡器|步长|型号|肖特基|"
        "稳压管|管子|电解|钽电容|陶瓷电容|磁珠|散热片|保险丝|继电器|比较器|基准|桥|整流|扼流圈|分压|分压器|"
        "网络|电位器|控制器|驱动|栅极|引脚|封装|贴片|晶振|科尔皮兹|光耦|清单|物料|芯片|管|线圈|匝数|"
        "耦合电容|旁路电容|去耦电容|反馈电阻|采样电阻|发射极|集电极|基极|漏极|源极|电流源|二极|接口"
    ),
    "quantity": (
        "供电电流|电源电流|工作电流|静态电流|总电流|输入阻抗|输出阻抗|输入电阻|输出电阻|成本|便宜|贵|噪声|"
        "噪音|带宽|输出|输入|温度|电流|电压|功率|功耗|效率|纹波|过冲|增益|相位|裕度|阻抗|频率|截止|峰值|"
        "衰减|通带|阻带|失真|面积|体积|尺寸|振荡|振铃|容差|小|大|低|高|快|慢|少|平坦度|稳定|响应|余量|"
        "抑制比|压差|温漂|失调|启动时间|起振|摆幅|转换速率|压摆率|损耗|线性度|建立时间|上升时间|下降时间|"
        "群延迟|延时|延迟|零点|极点|穿越频率|环路增益|开关频率|占空比|发热|温升|寿命|可靠性|价格|重量|高度|"
        "峰峰值|幅度|振幅|静态工作点|工作点|线性调整率|负载调整率|调整率|待机电流|漏电|饱和|削顶|削波|瞬态|"
        "动态范围|信噪比|啸叫|串扰|电磁干扰|共模抑制比|电源抑制比|滞回|阈值|冗余|响应速度|大小|底噪|误差|"
        "精确度|准确度|直流偏置|脉冲|浪涌|下冲|毛刺|尖峰|相移"
    ),
    "goal": ("目标|指标|要求|规格|目標|约束|那条|这条|那项|这项|那一条|这一条|那一项|这一项|需求|预期|门槛"),
    "new": "设计一个|设计个|设计一款|设计一种|做一个|新电路|另一个电路|新建",
    "round": "轮|輪|回合|版|几轮|次|遍|机会|几次|步|轮次|趟",
    "back": (
        "退回|恢复|还原|切回|切换到|回|返回|跳回|回滚到|改回|换回|退|回退到|撤回到|撤销到|回来|调回|滚回|"
        "拿回|捞回|取回|切到|跳到|跳转到"
    ),
    "error": (
        "仿真中断|仿真停了|仿真终止|崩|崩溃|错|错误|报错|故障|问题|收敛|不收敛|没收敛|失败|毛病|没仿真成功|"
        "没跑成功|没成功|跑不通|没跑通|挂了|出错|越改越糟|越改越差|越改越坏|越调越糟|越调越差|改坏|调坏|"
        "奇异矩阵|收敛不了|仿不动|仿不出来|跑不动|卡住|卡死|没跑起来|不工作了|步长太小|炸|死机|中断了"
    ),
    "continue": (
        "迭代|推进|继续|接着|下一轮|往下|前进|重试|下一步|跑|繼續|下一个|仿真|往前|走起|执行|运行|老样子|"
        "走着|开跑|开搞|开干|冲|搞起|安排上|照旧|一鼓作气|再战|启动|开始|来吧|整起来|加油"
    ),
    "optimize": (
        "提升|打磨|收紧|抠|改善|优化|改进|精调|微调|優化|精益求精|调优|完善|更进一步|改良|继续调|接着调|"
        "再调|再调调|再提高|细调|磨|精进|加把劲|使使劲|榨|压榨|提一提|调一调"
    ),
    "fix": (
        "排查|查错|搞好|改好|把错误改掉|把错改掉|改掉错误|让它能仿真|让它收敛|让它跑起来|让它能跑|改正|改对|"
        "处理|弄好|搞定它|修|修复|修正|改错误|排错|解决|纠正|修好|纠错|排除|調試|调试|跑通|修修|修一修|收拾|"
        "查一查|查查|查一下|捋一捋|补救|救一下|弄通|搞通|治|整好"
    ),
    "accept": (
        "采纳|通过|保存|存|敲定|锁定|接受|接收|定|定稿|定案|定版|定下来|验收|认可|确认|没意见|收下|收货|"
        "拍板|签收|交差|交付|交货|收尾|凑合|将就|就它|就要这个|就这个|就这版|就这样吧|为准|收了|我要了|要了|"
        "就要它|成交|放行|归档|存档|封版|冻结|定型|入库|就这么着|就这么办|批准|批了|认了|投产|出图|下单|"
        "打板|投板|发板|存起来|保存下来|过了|就是它|就是这个|就是这版"
    ),
    "done": "完成|搞定|做完|结束了|完工|收工|大功告成",
    "stop": (
        "停|停止|停手|暂停|挂起|搁着|放一放|放着|先这样|歇会|歇|结束|终止|取消|中止|到此为止|算了|放弃|退出|"
        "到这|打住|不做了|不弄了|不搞了|不跑了|别跑了|别再跑了|别继续了|不继续了|不做下去了|不玩了|不干了|"
        "别做了|别弄了|别搞了|别折腾了|不折腾了|别整了|不整了|搁置|收摊|到此|告一段落|暂告一段落|不想做了|"
        "不想弄了|不想搞了|别干了|拜拜|先放放|先放|放放|罢了|散会|打烊|休息|停工"
    ),
    "enough": "够了|足够|行了|不用了|不需要了|不用再|不必再|无需再|不再",
    "undo": (
        "撤销|撤消|回退|回滚|反悔|撤|退一步|作废|撤銷|改回去|改回来|收回|退掉|打回|悔棋|倒退|不算数|"
        "推倒重来|变回去|调回去|换回来|变回来"
    ),
}
