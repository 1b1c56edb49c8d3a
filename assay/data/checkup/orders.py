"""Orders to a model, as data for `injection`: what they are, and the English ones.

Every pattern reads plain text (lower case, compatible characters) and looks a bounded
number of characters ahead, so that the time grows with the length of the text only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NEAR = r"[^.!?\n;]{0,70}"


NEEDLE = 4


@dataclass(frozen=True, slots=True)
class Order:
    """`needles`: one of them stands in every text that `pattern` can match.

    In `ENGLISH` and `LATIN` a needle is a beginning of a word, of which the first
    `NEEDLE` characters count. `starts_clause`: the match must stand where a sentence
    or an order begins.
    """

    needles: frozenset[str]
    pattern: re.Pattern[str]
    starts_clause: bool = True


def all_of(verbs: str, *parts: str) -> re.Pattern[str]:
    """A verb, and behind it every one of `parts`, in any order."""
    ahead = "".join(f"(?={_NEAR}(?:{part}))" for part in parts)
    return re.compile(rf"\b(?:{verbs})\b{ahead}")


def starts(*words: str) -> frozenset[str]:
    return frozenset(word[:NEEDLE] for word in words)


_EN_DROP = (
    "ignore|disregard|forget|override|bypass|skip|overlook|neglect|discard|abandon|"
    "set aside|put aside|throw away|pay no attention to|do not follow|do not obey|"
    "don't follow|don't obey|stop following|stop obeying|no longer follow"
)
_EN_RULES = (
    "instruct|prompt|rules?\\b|guideline|directives?\\b|directions\\b|criteri|rubric|"
    "constraints\\b|commands\\b|programming\\b|system message|safeguard|restrictions\\b"
)
_EN_EARLIER = (
    "previous|prior\\b|above\\b|earlier|preceding|before\\b|so far\\b|"
    "your (?:\\w+ )?(?:instruct|prompt|rules|guideline|directive|programming|"
    "safeguard|restrict|criteri|rubric|training)|"
    "(?:all|any|every|other) (?:of )?(?:the |your |those |these )?(?:\\w+ )?"
    "(?:instruct|prompt|rules|guideline|directives|commands|rubric|criteri)|"
    "initial|original (?:instruct|prompt)|system (?:prompt|message|instruct)|"
    "(?:scoring|grading|evaluation|judging) (?:rubric|criteri|guideline|rule|instruct)|"
    "you (?:were|have been|had been|received|got) |given to you"
)
_EN_TARGET = (
    "(?:full|maximum|max|highest|top|perfect|best) (?:possible )?"
    "(?:score|mark|rating|grade|point|credit)|"
    "(?:score|rating|grade|mark|verdict)s? (?:of |: ?|= ?|as )[\"'(]?"
    "(?:\\d(?!\\d* ?(?:to|or|and|-))|pass|"
    "correct|"
    "perfect|excellent|max)|"
    "\\b\\d{1,3} ?(?:/|out of|of) ?\\d{1,3}\\b|"
    "as (?:an? |being )?(?:\\w+ )?(?:pass|correct|perfect|excellent|flawless|right|"
    "\\d\\b)|\"pass\"|'pass'|\\bas (?:fully )?(?:correct|grounded)"
)
_EN_THIS = (
    "this|it|these|those|me|everything|"
    "(?:the|any|every|each|all) (?:\\w+ )?(?:answers?|responses?|repl(?:y|ies)|texts?|"
    "outputs?|submissions?|candidates?|pages?|rows?|above)"
)
_ROLES_OF_MODELS = (
    "evaluators?|graders?|judges?|raters?|llms?|ai\\b|assistants?|language models?|"
    "ai (?:models?|systems?|assistants?|agents?)|chatbots?|llm (?:judges?|graders?)"
)

ENGLISH: tuple[Order, ...] = (
    Order(
        starts("ignor", "disregard", "forget", "overrid", "bypass", "skip", "overlook",
         "neglect", "discard", "abandon", "aside", "throw", "attention", "follow",
         "obey"),
        all_of(_EN_DROP, _EN_RULES, _EN_EARLIER),
    ),
    Order(
        starts("forget", "ignor", "disregard"),
        re.compile(
            r"\b(?:forget|ignore|disregard) (?:everything|anything|all|whatever)"
            r"(?: of)?(?: (?:the|that))? (?:above\b(?! \w)|before this\b|(?:\w+ )?"
            r"(?:you|was|were|has been|have been) (?:\w+ )?"
            r"(?:told|instructed|given|taught|asked|written|said)\b)"
        ),
    ),
    Order(
        starts("prompt", "instruct", "message"),
        all_of(
            "print|reveal|show|repeat|output|display|leak|tell me|write out|disclose|"
            "expose|give me|dump|recite|summari[sz]e",
            "(?:your|the|its) (?:\\w+ )?(?:system|hidden|initial|original|secret|"
            "first) "
            "(?:prompt|instruct|message)|your (?:own )?(?:prompt|instructions)\\b",
        ),
    ),
    Order(
        starts("give", "rate", "score", "grade", "mark", "assign", "award", "grant",
         "return", "classify", "label"),
        all_of(
            "(?:give|rate|score|grade|mark|assign|award|grant|classify|label) "
            f"(?:{_EN_THIS})\\b",
            _EN_TARGET,
        ),
    ),
    Order(
        starts("give", "assign", "award", "grant"),
        re.compile(
            r"\b(?:give|assign|award|grant) (?:\w+ ){0,3}"
            r"(?:full|maximum|max|highest|top|perfect) (?:possible )?"
            r"(?:score|mark|rating|grade|point|credit)"
        ),
    ),
    Order(
        starts("must", "should", "have", "need", "shall", "will"),
        re.compile(
            r"\b(?:must|should|have to|need to|shall|will) (?:always |now |only |"
            r"simply )?"
            r"(?:output|return|respond with|reply with|assign|report|give|award|get|"
            r"receive|be (?:given|rated|graded|scored|marked|awarded|treated))"
            rf"(?={_NEAR}(?:{_EN_TARGET}))"
        ),
        starts_clause=False,
    ),
    Order(
        starts("deserve", "earn", "has", "receive"),
        re.compile(
            r"\b(?:this|the|my|above) (?:answer|response|reply|output|submission|above|"
            r"text)(?: above)? (?:deserve|earn|has earned|receive)(?:s|d|ed)?"
            rf"(?={_NEAR}(?:{_EN_TARGET}))"
        ),
        starts_clause=False,
    ),
    Order(
        starts("simply", "just", "only", "always", "directly"),
        re.compile(
            r"\b(?:simply|just|only|always|directly) "
            r"(?:return|output|respond with|reply with|answer|print|say) "
            r"[\"'(]?(?:(?:the |a )?(?:score|number|rating|value) )?"
            r"(?:of )?(?:5|10|100|1\.0|pass|correct)\b"
        ),
    ),
    Order(
        starts("assign", "return", "output", "report"),
        re.compile(
            r"\b(?:assign|return|output|report) (?:a |the )?(?:score|rating|grade|"
            r"verdict)"
            r"(?: of|:)? [\"'(]?(?:\d|pass|correct|perfect)"
        ),
    ),
    Order(
        starts("evaluat", "grade", "gradi", "judge", "judgi", "score", "scori",
            "assess"),
        re.compile(
            r"\b(?:do not|don't|no need to|stop|never) (?:evaluat|grade|judge|scor|"
            r"assess)"
            r"\w* (?:this|the|these|my|it\b)"
        ),
    ),
    Order(
        starts("note", "attention", "message", "dear", "memo", "reminder", "hey",
            "warning",
         "instruct"),
        re.compile(
            r"\b(?:note|message|attention|memo|reminder|instructions?|hey|dear|warning)"
            r"\W{1,3}(?:to |for )?(?:the |all |any |our )?(?:ai |llm |automated |"
            r"automatic )?"
            rf"(?:{_ROLES_OF_MODELS})\b"
            r"(?=[^\n]{0,200}\b(?:scor|rat(?:e|ing)|grade|marks?\b|must|pass\b|correct|"
            r"ignore|disregard|award))"
        ),
    ),
    Order(
        starts("evaluator", "grader", "judge", "rater"),
        re.compile(
            r"\bas (?:the|an?) (?:\w+ )?(?:evaluator|grader|judge|rater),? "
            r"you (?:must|should|will|shall|have to|need to|are)\b"
            rf"(?={_NEAR}(?:repl|respon|answer|pass|scor|rat|grade|text|row))"
        ),
        starts_clause=False,
    ),
    Order(
        starts("ai", "llm", "model", "assistant", "chatbot", "agent", "evaluator",
            "grader",
         "judge"),
        re.compile(
            r"\bif you(?: are|'re) (?:an?|the|any) (?:\w+ ){0,2}"
            r"(?:ai|llm|model|assistant|chatbot|agent|evaluator|grader|judge)\b"
            r"[^.!?\n]{0,40}(?:reading|processing|evaluating|grading|scoring|reviewing|"
            r"summari|asked|, ?(?:please|you|do|say|tell|ignore|respond|always|rate))"
        ),
        starts_clause=False,
    ),
    Order(
        starts("mode", "anything", "restrictions", "rules", "guidelines", "filters",
            "jailbr"),
        re.compile(
            r"\b(?:you are|you're|enter|enable|activate|switch to|act as if you are) "
            r"(?:now |currently |running )?(?:in |into |an? |the )?"
            r"(?:(?:developer|debug|god|admin|jailbreak|unrestricted|dan|"
            r"maintenance) mode"
            r"|jailbroken)|\bdo anything now\b"
            r"|\b(?:pretend|act as if|imagine) (?:that )?you have no "
            r"(?:restrictions|rules|guidelines|filters)"
        ),
        starts_clause=False,
    ),
    Order(
        starts("new", "updated", "revised", "override"),
        re.compile(
            r"^\W{0,4}(?:(?:new|updated|revised) (?:\w+ )?(?:instructions?|rules|"
            r"orders|"
            r"task|directive)|(?:system|admin) override) ?:",
            re.MULTILINE,
        ),
        starts_clause=False,
    ),
)  # fmt: skip
