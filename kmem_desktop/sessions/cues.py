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
    r"|\bgo(?:ing)? with\b|\b(?:must|should|will) (?:always|never|not|only|be|use|stay)\b"
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
    r"|cause[sd]?|root cause|reason|all \w+ (?:are|is|were)|no more|remaining)\b",
    re.IGNORECASE,
)
_REVERSAL = re.compile(
    r"\b(?:no on|not correct|in ?correct|is wrong|was wrong|wrong:|that's wrong"
    r"|actually[,.]? (?:no|that|the|we|it|don't)|i meant"
    r"|missing the point|we won't|won't (?:fetch|use|need)|scratch that|never ?mind"
    r"|changed? (?:my|our) mind|on second thought"
    r"|reverse[ds]?|revert(?:ed)?|undo|undid|rolled back|no longer|drop that|instead of what"
    r"|not what i|turns out|correction"
    r"|let's not|back to|forget (?:that|about)|supersedes?d?|reconsider(?:ed)?"
    r"|switch(?:ed)? (?:back|from|away)|replaced? by|rather than)\b",
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
_OPEN = re.compile(
    r"\b(?:open question|still open|to be decided|tbd|undecided|not (?:yet )?(?:decided|clear"
    r"|sure)|unclear"
    r"|unresolved|need(?:s)? to (?:decide|find out|investigate|check)|remains? to|left open"
    r"|follow[- ]up|next steps?|to ?do)\b",
    re.IGNORECASE,
)
_FIX = re.compile(
    r"\b(?:root cause|caused by|fixed (?:it )?(?:by|with|in)|(?:the|a) (?:fix|solution|workaround"
    r"|cure) (?:is|was|for)|solved (?:by|with|it)"
    r"|resolved by|work(?:s|ed)? around|workaround:|the (?:problem|issue|bug|cause|culprit|error"
    r"|reason) (?:is|was)(?! (?:that )?(?:we|i|you) )"
    r"|(?:failed|fails|broke|crashed|breaks|crashes) because|turns out (?:that )?the)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:i (?:always|never|prefer|like|hate|want you to|don't want|do not want|would rather)"
    r"|always (?:use|run|write|put|keep|add|check|do|make|ask)"
    r"|never (?:use|run|write|put|commit|push|add|do|make|delete|touch)|please (?:always|never"
    r"|don't|do not|stop)|from now on|in (?:the )?future|my preference"
    r"|remember (?:that|to)|we (?:always|never) |stop (?:doing|adding|using|repeating))\b",
    re.IGNORECASE,
)


def is_narration(text: str) -> bool:
    """Return whether a passage only says what the speaker is about to do."""
    return _NARRATION.match(text) is not None


def is_chatter(text: str) -> bool:
    """Return whether a passage is a greeting, a yes, a thank-you."""
    return _CHATTER.match(text) is not None


def is_question(text: str) -> bool:
    """Return whether a passage asks."""
    return text.rstrip(" \"'*)_").endswith(("?", "\uff1f"))


def is_open_question(text: str) -> bool:
    """Return whether a passage says that something is not decided yet."""
    return _OPEN.search(text) is not None


def tells_decision(text: str) -> bool:
    """Return whether a passage says what is to be, or what was chosen."""
    return _DECISION.search(text) is not None


def states_decision(text: str) -> bool:
    """Return whether a passage says outright what was decided; `tells_decision` is lenient."""
    return _DECIDED.search(text) is not None


def tells_outcome(text: str) -> bool:
    """Return whether a passage says what came out, or why."""
    return _OUTCOME.search(text) is not None


def tells_reversal(text: str) -> bool:
    """Return whether a passage says that something no longer holds."""
    return _REVERSAL.search(text) is not None


def corrects(text: str) -> bool:
    """Return whether a turn contradicts or takes back what was said before."""
    return _CORRECTION.search(text) is not None


def tells_fix(text: str) -> bool:
    """Return whether a passage says what was wrong and what helped."""
    return _FIX.search(text) is not None


def tells_preference(text: str) -> bool:
    """Return whether a person says how they want things done in general."""
    return _PREFERENCE.search(text) is not None
