"""Words: which are common in any English conversation, which name things, and what they weigh.

There is no corpus to count in: a memory may hold three sessions. So a list of common words stands
for it; what is not in the list is what a conversation is about.
"""

import re

IDENTIFIER_WEIGHT = 1.5
COMMON_WEIGHT = 0.25

_WORD = re.compile(r"[^\W\d][\w./:@-]*\w|\d[\w.%]*|[^\W\d]")
_IDENTIFIER = re.compile(r"[_/.\d]|[a-z][A-Z]|^[A-Z]{2,}")
_ENDINGS = ("ing", "ies", "es", "ed", "s")
_SHORTEST_STEM = 4


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP_WORDS = _words(
    """a about after again against all also am an and any are aren as at be because been before
    being but by can cannot could couldn d did didn do does doesn doing don down each either else
    even ever every few for from further had hadn has hasn have haven having he her here hers him
    his how i if in into is isn it its itself just ll m may me might mine more most must my myself
    neither no nor not now of off on once one only or other our ours out over own per re s same
    shall she should shouldn since so some such t than that the their theirs them then there these
    they this those though through thus to too under until up us ve very was wasn we were weren
    what when where whether which while who whom whose why will with within without won would
    wouldn yet you your yours"""
)
_COMMON_WORDS = _words(
    """able above absolutely accept accord across act actual actually add added afraid ago agree
    ah aha ahead allow almost alone along already alright although always among amount annoying
    another answer anybody anymore anyone anything anyway anyways apart apparently appear apply
    apparent around ask asked asking assume available away awesome back bad basically become began
    begin behind believe below best better between big bit both break bring btw buddy busy buy bye
    call called calling came care careful case cause caught certain certainly chance change
    changed check choice choose clean clear clearly close come comes coming common complete
    completely consider consistent contain continue cool correct correctly course cover create
    cut day days deal dear decide deep definitely depend depends detail different difficult
    directly distant done doubt dude early easier easily easy effort eh email empty end ended
    enough entire entirely especially etc everybody everyone everything exact exactly example
    excellent except exist expect explain extra fact fair fairly far fast feel felt figure final
    finally find fine finish first fit fix fixed follow following forever forget forgot form
    forward found free friend front full fun funny future gave general generally get gets getting
    give given gives giving glad go goes going gone gonna good got gotta great group guess guy guys
    ha haha half hand handle happen happened happy hard hardly hate hear heard hello help helpful
    hey hi high hm hmm hold home hope hopefully hour hours however huge hurt idea imagine
    immediately important include including indeed instead interest interested interesting issue
    issues itself job join keep kept kind kinda knew know known knows lack large last late later
    latest laugh lead learn least leave left less let lets level life like liked likely line link
    list listen literally little live lol long longer look looked looking looks lose lot lots love
    low luck lucky made main mainly make makes making man manage many match matter maybe mean means
    meant meantime mention middle might mind minute minutes miss mistake moment money month months
    morning move much name near nearly need needed needs never new next nice night nobody none
    normal normally note nothing notice number obvious obviously odd often oh ok okay old ones open
    order original otherwise outside overall page paper part particular pass past people perfect
    perhaps person pick place plain plan please plenty plus point possible possibly post practice
    prefer present pretty previous previously probably problem problems proper properly prove
    provide pull put question questions quick quickly quite rather reach read reading ready real
    really reason reasonable recent recently related remember remind reply report request rest
    result return right rough round rule run running rush sad safe said sat save saw say saying
    says second see seem seemed seems seen sense sent separate serious seriously set several shape
    share short show shown side silly similar simple simply single sit situation small smart
    somebody somehow someone something sometimes somewhere soon sorry sort sound sounds special
    specific spent stand start started starting state stay step still stop stopped straight strange
    strong stuff stupid sudden suddenly suggest super suppose supposed sure surely surprise sweet
    take taken takes taking talk talking team tell tend term terrible test text thank thanks thing
    things think third thought thread three thx till time times tiny today together told tomorrow
    tonight took top total totally touch toward tried trouble true truth try trying turn turned
    two type ugh um understand unfortunately unless unlike update upon use used useful user uses
    using usual usually value various version via view wait walk wanna want wanted wants warn
    watch way ways weather wednesday week weekend weeks weird welcome well went whatever whenever
    whole wish wonder word words work worked working works world worry worse worst worth wow write
    wrong wrote ya yeah year years yep yes yesterday young yup zero"""
)


def stem(word: str) -> str:
    """Return a word without its ending, so that `fix`, `fixes` and `fixed` are one."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def weighted_terms(text: str) -> dict[str, float]:
    """Return the stems that a text is about, each with the weight its kind deserves."""
    found: dict[str, float] = {}
    for word in _WORD.findall(text):
        lower = word.lower()
        if lower in _STOP_WORDS or len(word) == 1:
            continue
        if _IDENTIFIER.search(word):
            weight = IDENTIFIER_WEIGHT
        else:
            weight = COMMON_WEIGHT if lower in _COMMON_WORDS else 1.0
        found[stem(word)] = weight
    return found


def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words, stop words left out."""
    return frozenset(weighted_terms(text))


def identifiers(text: str) -> frozenset[str]:
    """Return the names of things in a text: paths, functions, versions, numbers, constants."""
    words = _WORD.findall(text)
    return frozenset(word.rstrip(".:") for word in words if _IDENTIFIER.search(word))
