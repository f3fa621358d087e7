"""Wording by which a passage is known: a decision, an outcome, a question, mere narration.

Only words that people and assistants use in any conversation about work; no cue names a project.
"""

import re

# "Let me check", "Now I'll", "I'm going to": what is being done, not what came out.
_NARRATION = re.compile(
    r"^(?:(?:ok(?:ay)?|now|next|first|then|great|good|perfect|excellent|alright|right|so|and|hmm+"
    r"|got it|sure|yes|done|confirmed|found it|interesting)\b[\s,.!:;\u2014-]*)*"
    r"(?:(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|we'll|i need to|i should"
    r"|i have to|time to|going to|want me to|shall i|should i|would you like|ready (?:to|for|when)"
    r"|which do you|give me|say the word|to answer you)\b"
    r"|(?:now )?(?:the |here's |here is |here are )?(?:where things|where we are|my |the )?"
    r"(?:audit|findings|summary|the full picture)\b.{0,60}:$"
    r"|now (?:the|that|for|fix|remove|update|tidy|clear|adding|writing|reading|making|strip"
    r"|collapse)\b"
    r"|(?:adding|writing|reading|checking|looking|searching|running|recording|fixing|updating"
    r"|removing|waiting|proceeding|re-?running|working|moving)\b)",
    re.IGNORECASE,
)
# What ends an answer and adds nothing: offers, and what one may do now.
_OFFER = re.compile(
    r"^(?:please )?(?:feel free\b|(?:just )?let me know\b"
    r"|if you(?:'d| would)? (?:like|want|need|wish|prefer|have (?:any|more|further)|encounter"
    r"|run into|still|share|tell)\b.{0,160}\b(?:let me|i can|i'll|i could|i'd|just|feel free|please"
    r"|happy to)\b"
    r"|if (?:it|this|that) (?:works|looks)\b.{0,60}\blet me know\b"
    r"|(?:you can|you may|please) (?:now )?(?:re-?run|try|test|check)\b"
    r"|(?:(?:i am|i'm) )?(?:happy|glad) to\b)",
    re.IGNORECASE,
)
_RESOLVED = re.compile(
    r"\b(?:(?:fixed|solved|resolved|got|did|cured) (?:it|that|this|the \w+)\b"
    r"|(?:it|that|this|everything|all|things) (?:now )?(?:works?|worked)(?: now| again|\b[.!]|$)"
    r"|(?:works|working|fixed|solved) (?:now|again)\b|did the trick|that was (?:it|the problem))",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"^(?:hi|hello|hey|thanks?|thank you|thx|lol|haha+|ok(?:ay)?|yes|yeah|yep|yup|no|nope|sure|oh"
    r"|um+|hmm*|hu+|aha|cool|nice|right|great|perfect|good (?:question|catch|point|call|instinct)s?"
    r"|you're (?:absolutely )?(?:right|welcome)|you are right|i see|got it|wow|sorry|bye|well"
    r"|makes sense|that makes sense|please|wait|clean(?: now)?|all confirmed"
    r"|done)\b[\s\w,.!?:;')(]{0,24}$",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided?|decisions?|decides|we(?:'ll| will| are going to| should)? (?:use|go with|keep"
    r"|drop)|let's"
    r"|go(?:ing)? with|instead of|in place of|rather than|agreed|settled|recorded|locked"
    r"|final(?:ly|ised|ized)?|prefer(?:red|s)?"
    r"|chosen?|choose|chose|opt(?:ed)? for|must(?: not)?|never|always|no longer|won't|don't"
    r"|do not|only|required"
    r"|use[sd]?|should|the plan is|stays?|remains?|untouched|canonical|recommend(?:ed|ation)?"
    r"|alternative(?:ly)?|workaround)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|settled)\b|\b(?:decision"
    r"|agreed)\b\s*[:\u2014-]"
    r"|\b(?:we|i)(?:'ll| will| are going to|'re going to) (?:use|go with|keep|drop|store|limit"
    r"|stick|make|have)\b|\blet's (?:use|go with|keep|limit|align|stick|do|make)\b"
    r"|\bgo(?:ing)? with\b|\bmust (?:be|always|never|not|only|use|stay)\b"
    r"|\b(?:should|will) (?:always|never|not|only|use|stay)\b"
    r"|^\W*[A-Z]{1,3}-?\d{1,3}\W{0,3}\s*[\u2014\u2013:=-]\s|\bis the (?:canonical|only|agreed"
    r"|chosen)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:fixed|fixes|done|passed|passes|works(?! with)|working now|succeeded|failed|fails"
    r"|failing|broken?|error|added"
    r"|created|deleted|removed|moved|renamed|updated|replaced|implemented|migrated|merged"
    r"|released|installed"
    r"|resolved|reverted|restored|rolled? ?back|undid|re-?do(?:ne)?|re-?applied|complete[d]?"
    r"|confirmed|verified|found|turns? out|because"
    r"|cause[sd]?|root cause|reason|all \w+ (?:are|is|were)|no more|remaining"
    r"|no (?:\w+ ){1,2}(?:(?:is|are|was|were) )?(?:needed|required|necessary|found|left))\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^\W*no\b(?! more| problem| need| idea| worries| paging)|\bno on\b|\bnot (?:correct|right"
    r"|what i|quite right)\b|\bincorrect\b"
    r"|\b(?:is|was|that's|are) wrong\b|\bi meant\b|\bmissing the point\b|\bwe won't\b"
    r"|\bscratch that\b|\bnever ?mind\b"
    r"|\bchang(?:ed?|ing) (?:my|our) minds?\b|\bon second thoughts?\b|\bturns out\b"
    r"|\bgo(?:ing)? back to\b|\brevert (?:that|it|to|back)\b"
    r"|\bi said\b|\byou still\b|\blet's not\b|\bforget (?:that|about)\b|\bactually[,.]? (?:no\b"
    r"|let's|we (?:should|need|don't|won't))"
    r"|\bswitch(?:ing)? back\b|\bundo\b|\bdon't (?:do|use|want) that\b|\bnot .{1,40}[,;] but\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|could be|not sure|i wonder)\b", re.IGNORECASE
)
_UNDO = re.compile(
    r"\b(?:undid|undo|undone|reverted?|roll(?:ed)? ?back|discard(?:ed)?|threw away|took back)"
    r" (?:all |all of )?(?:your|that|those|these|this|the last|my last|it|both|everything)\b",
    re.IGNORECASE,
)
_MISTAKE = re.compile(
    r"\b(?:by mistake|by accident|accidentally|unintentional\w*|oops)\b", re.IGNORECASE
)
_OPEN = re.compile(
    r"\b(?:open question|still open|to be decided|tbd|undecided|not (?:yet )?(?:decided|clear"
    r"|sure)|unclear"
    r"|unresolved|need(?:s)? to (?:decide|find out|investigate|check)|remains? to|left open"
    r"|follow[- ]up|next steps?|to ?do)\b",
    re.IGNORECASE,
)
_FIX = re.compile(
    r"\b(?:root cause|caused by|(?:is|was|are|were) due to|fixed (?:it )?(?:by|with|in)"
    r"|(?:the|a) (?:fix|solution|workaround|cure) (?:is|was|for)|solved (?:by|with|it)"
    r"|resolved by|work(?:s|ed)? around|workaround:"
    r"|the (?:(?:core|main|real|actual|exact|underlying) )?(?:problem|issue|bug|cause|culprit|error"
    r"|reason) (?:is|was)(?! (?:that )?(?:we|i|you) )"
    r"|(?:failed|fails|broke|crashed|breaks|crashes) because|turns out (?:that )?the)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:i (?:always|never|prefer|hate|would rather)"
    r"|always (?:use|run|write|put|keep|add|check|do|make|ask)"
    r"|never (?:use|run|write|put|commit|push|add|do|make|delete|touch)|please (?:always|never"
    r"|don't|do not|stop)|from now on|in (?:the )?future|my preference"
    r"|remember (?:that|to)|we (?:always|never) |stop (?:doing|adding|using|repeating))\b",
    re.IGNORECASE,
)


def is_narration(text: str) -> bool:
    """Return whether a passage only says what the speaker is about to do."""
    return _NARRATION.match(_with_plain_marks(text)) is not None


def is_offer(text: str) -> bool:
    """Return whether a passage only offers more, or says what may be tried now."""
    return _OFFER.match(_with_plain_marks(text)) is not None


def tells_resolution(text: str) -> bool:
    """Return whether a person says that a problem is gone."""
    is_denied = " not " in text or "n't" in text or is_question(text)
    return not is_denied and _RESOLVED.search(_with_plain_marks(text)) is not None


def _with_plain_marks(text: str) -> str:
    """Return a text with the apostrophe of the keyboard for that of the printer."""
    return text.replace("\u2019", "'")


def is_chatter(text: str) -> bool:
    """Return whether a passage is a greeting, a yes, a thank-you."""
    return _CHATTER.match(_with_plain_marks(text)) is not None


def is_question(text: str) -> bool:
    """Return whether a passage asks."""
    return text.rstrip(" \"'*)_").endswith(("?", "\uff1f"))


def is_open_question(text: str) -> bool:
    """Return whether a passage says that something is not decided yet."""
    return _OPEN.search(_with_plain_marks(text)) is not None


def tells_decision(text: str) -> bool:
    """Return whether a passage says what is to be, or what was chosen."""
    return _DECISION.search(_with_plain_marks(text)) is not None


def states_decision(text: str) -> bool:
    """Return whether a passage says outright what was decided; `tells_decision` is lenient."""
    return _DECIDED.search(_with_plain_marks(text)) is not None


def tells_outcome(text: str) -> bool:
    """Return whether a passage says what came out, or why."""
    return _OUTCOME.search(_with_plain_marks(text)) is not None


def corrects(text: str) -> bool:
    """Return whether a turn contradicts or takes back what was said before."""
    plain = _with_plain_marks(text)
    return _CORRECTION.search(plain) is not None and _HEDGE.search(plain) is None


def undoes(text: str) -> bool:
    """Return whether a person says that what was done last is undone, and not by mistake."""
    return _UNDO.search(text) is not None and _MISTAKE.search(text) is None


def tells_fix(text: str) -> bool:
    """Return whether a passage says what was wrong and what helped."""
    return _FIX.search(_with_plain_marks(text)) is not None


def tells_preference(text: str) -> bool:
    """Return whether a person says how they want things done in general."""
    return _PREFERENCE.search(_with_plain_marks(text)) is not None
