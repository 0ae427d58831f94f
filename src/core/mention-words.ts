/** The English that tells a claim from a mention, and the little of other languages that says "not yet". */

export const WORD = /[\p{L}\p{N}]/u;
/** A word right before the tag, but for blanks, marks and quotes. */
export const WORD_LAST = /[\p{L}\p{N}][\s`"'“‘(*_]*$/u;
/** The sentence goes on behind the tag: with a verb in -s, a word of time or place, or in a script without blanks. */
export const RUNS_ON =
  /^[\s`"'”’)*_]*(?:(?:is|was|are|were|be|as|at|when|because|and|or|but|which|that|has|had|have|can|could|does|did|in|into|on|to|for|from|of|by|with|mean|printed|withheld|omitted|missing|would|will|should|must|may|might|only|once|until|before|after|if|so|then|pending|tbd|next|later|soon|tomorrow|not|nicht|noch|niet|nog|wenn|sobald|quand|cuando|quando|todavía|aún|non|pas|(?!(?:thanks|yes|always|\w*ss)\b)[a-z]{2,}s)(?![\p{L}\p{N}])|\p{Lo})/u;
/** A second result is joined to the first: "all fixed <tag> and pushed". */
export const ADDS = /^\s*and\b/;
/** The tag is given as an answer: "<tag> is my word". */
export const IS_ANSWER =
  /^\s*is\s+(?:hereby\b|(?:my|our)\s+(?:\w+\s+)?(?:word|answer|result|verdict|response|conclusion|reply)\b)/;
/** And so with "here is my <tag>". */
export const HANDS_OVER =
  /\bhere(?:['’]s|\s+is)\s+(?:my|your|the)(?:\s+(?:final|completion|promise|tag))*\s*$/i;
/** What may follow a tag that is being written right here: a reason, or the word "now". */
export const EXPLAINS = /^[\s`"'”’)*_]*(?:because|since|now(?=\s*(?:[.!,;:]|$)))/i;

const VERB =
  '(?:outputt?|emitt?|print|say|said|writ|wrote|write|send|return|produc|giv|gave|post|includ|add|declar|claim|us|putt?|typ|respond|repl|answer|finish|end|signal|issu|provid|announc|show|display|report|stat|submitt?|conclud|mark|mention|contain|earn|deserv|reach)(?:e|es|s|ed|ing|y|ies|ied|ying|en|ten)?';
/** Words that may stand between a verb and the tag that it governs. */
const OBJECT =
  '(?:\\s+(?:the|a|an|this|that|my|our|your|its|exact|exactly|final|completion|following|literal|promise|tag|marker|token|string|line|word|signal|text|message|just|only|out|with|as|of|by|saying|simply|below|now|here|it|alone|on))*[\\s"\'`“‘(:*_—–-]*$';
/** At most `n` words of the same clause. */
const gap = (n: number): string => `(?:(?!(?:has|have|had|was|were|is|are)\\b)[^\\s;:]+\\s+){0,${n}}?`;
const NEGATION =
  "(?:not|never|cannot|no|without|nor|neither|unable\\s+to|refus\\w*|avoid\\w*|refrain\\w*|withhold\\w*|instead\\s+of|rather\\s+than|too\\s+(?:early|soon)|premature\\w*|almost|nearly|wrongly|\\w+n['’]t)";
const FUTURE =
  "(?:will|\\w+['’]ll|shall|going\\s+to|gonna|would|\\w+['’]d|plan(?:ning)?\\s+to|intend(?:ing)?\\s+to|about\\s+to|supposed\\s+to|expected\\s+to|(?:have|has|need|needs|want|wants|ought|asked|told|instructed|required|remember)\\s+to|must|should|might|could|then|later|eventually|todo|next)";
const CONDITION =
  '(?:if|when|once(?!\\s+(?:again|more)\\b)|until|till|unless|whenever|as\\s+soon\\s+as|only\\s+after|provided|in\\s+case|before|otherwise|wenn|sobald|quand|cuando|quando)';

export const NEGATED = new RegExp(`\\b${NEGATION}\\s+${gap(6)}${VERB}${OBJECT}`, 'i');
export const NEGATED_DIRECTLY =
  /\b(?:no|not|without|never|nor|withhold\w*|hold(?:ing)?\s+(?:off|back)(?:\s+on)?|instead\s+of|rather\s+than)(?:\s+(?:yet|a|the|any|final|my|that|this))?\s*[`"'“‘(*_]*$/i;
export const NOT_YET =
  /\b(?:not|n['’]t)\s+(?:quite\s+)?yet\b|\bpas\s+encore\b|\bnoch\s+(?:nicht|kein)|\b(?:todavía|aún)\s+no\b|\b(?:ancora\s+non|non\s+ancora)\b|\bainda\s+não\b|\bnog\s+niet\b|ещ[её]\s+не|まだ|还不|还没|尚未|아직/i;
export const IN_FUTURE = new RegExp(`(?:^|[^\\w])${FUTURE}\\s+${gap(5)}${VERB}${OBJECT}`, 'i');
/** "I will output the promise:" with the tag right behind it is the act itself; "I would" and "then I will" are not. */
export const ANNOUNCES = new RegExp(
  `\\b(?:I|we)(?:['’]ll|['’]m\\s+going\\s+to|\\s+(?:will|shall|can|must|should|am\\s+going\\s+to|have\\s+to|need\\s+to))\\s+(?:also\\s+|finally\\s+)?${VERB}${OBJECT}`,
  'i',
);
export const WILL = /\b(?:will|shall|would)\b|['’](?:ll|d)\b/i;
export const LATER = /\b(?:then|later|next|eventually|after(?:wards?)?|would|could|might|someday|soon)\b/i;
/** What makes the present of a future: "I will now output", "therefore I must output". */
export const NOW = /\b(?:now|hereby|herewith|therefore|thus|hence|accordingly)\b/i;
export const CONDITIONAL = new RegExp(`\\b${CONDITION}\\b`, 'i');
export const STARTS_CONDITIONAL = new RegExp(
  `^[\\s\\W]*(?:only\\s+)?(?:${CONDITION}|assuming|eventually|someday|one\\s+day|at\\s+the\\s+(?:very\\s+)?end|to\\s+(?:end|stop)\\s+the\\s+loop)\\b`,
  'i',
);
/** A condition right before the tag: "Finally, when the tests pass, <tag>", "After the review: <tag>". */
export const ENDS_CONDITIONAL = new RegExp(
  `,\\s*${CONDITION}\\b[^,]*,\\s*$|^\\W*after\\s+(?:that|this|the\\s+\\w+)\\s*[:—–]\\s*$`,
  'i',
);
export const EMITS = new RegExp(`\\b${VERB}${OBJECT}`, 'i');
export const IMPERATIVE = new RegExp(`^\\s*(?:\\[.\\]\\s*)?(?:then\\s+|finally,?\\s+)?${VERB}${OBJECT}`, 'i');
const FIRST_PERSON = `(?:\\b(?:I|we)(?:['’](?:m|ve|re))?|\\blet\\s+me|\\band\\s+(?:therefore|thus|hence|now|hereby))\\s+(?:(?:am|have|are|can|now|hereby|herewith|therefore|thus|also|will|must|should|(?!(?:only|hardly|barely|scarcely|nearly)\\b)\\w+ly)\\s+)*${VERB}${OBJECT}`;
/** "…; emitting <tag>": the clause has no other subject than the speaker. */
const PARTICIPLE =
  '(?:^|[;,—–]\\s+)\\W*(?:now\\s+|hereby\\s+)?(?:outputt|emitt|print|writ|declar|send|signal)ing\\b[\\s"\'`“‘(:*_—–-]*(?:the\\s+(?:\\w+\\s+){0,2}(?:promise|tag|marker)[\\s:]*)?$';
/** Does what it says: the tag is written by the sentence that it stands in. */
export const EMITS_HERE = new RegExp(`${FIRST_PERSON}|${PARTICIPLE}`, 'i');
/** Verbs that only tell of a tag, in the first person too. */
export const TELLS = /\b(?:wrote|said|claimed|mentioned|reached|earned|deserve\w*)\b/i;

/** Words of a heading or lead-in behind which a tag is a plan, an example or a quotation. */
export const LEADS_TO_MENTION =
  /\b(?:next|remaining|plan|todo|to-do|pending|waiting|goal|target|later|soon|at\s+the\s+(?:very\s+)?end|afterwards?|blocked|otherwise|missing|rejected|wrong(?:ly)?|premature\w*|mistake|(?<!as\s)expect(?:ed|s)|steps?(?:\s+\d+)?|instruct(?:ions?|ed)|rules?|check-?list|(?<!nothing\s)left|remains|yet|never|open|in\s+progress|wip|unfinished|incomplete|(?:answer|report|respond|print|emitt|return|claim|declar|announc|stat|mention|display|logg|submitt)ed|replied|sent|written|shows?|showed|examples?|e\.g|draft|template|placeholder|format|syntax|usage|grep(?:s|ped)?|look(?:s|ed|ing)?\s+for|search(?:es|ed)?|check(?:s|ed)?\s+for|wait(?:s|ed)?\s+for|find|match(?:es|ed)?|previous(?:ly)?|earlier|ended\s+with|ends\s+with|log|stdout|says?|said|told|asked\s+(?:me\s+)?to|quot(?:e|ed|ation)|tools?|output\s+of|wants?|contains?|means|called|defined)\b|\b(?:found|was|were|criteri(?:a|on))\s*:|^\W*(?:user|human|you|system|prompt|hook|(?:sub-?)?agent)\b[^\p{L}]*$|\.\w{1,4}[`"')]*(?::\d+)*\s*:\s*$/iu;
/** "All steps are complete:" tells a result, whatever else it speaks of. */
export const LEADS_TO_RESULT =
  /^(?!.*\b(?:not|never|none|half|nearly|almost|\w+n['’]t)\b).*\b(?:is|are|been)\s+(?:all\s+|now\s+|fully\s+)?(?:done|completed?|finished|fixed|met|green|passing|resolved|implemented)[\s*_]*[:—–]\s*$/is;
/** The label of a list of things to do in one line. */
export const PLANS =
  /^\W*(?:(?:my|the|our)\s+plan(?=\s*:)|what\s+(?:remains|is\s+left)|remaining|left|todo|to\s+do|plan|next|check-?list|[\w\s]*criteri(?:a|on))\b[^:]*:/i;
/** Words after which a tag is a part of the sentence. */
export const TAKES_OBJECT =
  /\b(?:for|from|to|of|with|as|than|the|an?|this|that|my|your|our|earlier|previous|is|was|were|are|be|been|then|before|until|after|like|called|named|contains?|mentions?|mentioned|found|saw|sees?|wrote|claimed|earned|reached|(?:the|an?|this|that|any|my|your|our)\s+(?:\w+\s+)?(?:tag|marker|promise|token|string|word|text|line)|about|toward|towards|back|without|by|into|in|on|upon|at|via|equals?|matches)[\s`"'“‘(*_]*$/i;
const RESULT =
  '(?:done|complet\\w*|accomplished|shipped|deployed|created|refactored|finish\\w*|fix(?:es|ed)?|pass(?:es|ed|ing)?|work(?:s|ed|ing)?|green|verif\\w*|implement\\w*|resolved|solved|ready|success\\w*|run|ran|tests?|tested|left|remain(?:s|ing)?|added|updated|merged|committed|built|met|satisfied|confirmed|checked|ok|good|well|clean|fertig|terminé|listo)\\b|完成|完了|готово';
/** What a sentence without a full stop has to tell for a tag right behind it to be a claim. */
export const TELLS_RESULT = new RegExp(`\\b(?:${RESULT})`, 'i');
export const TELLS_NO_RESULT = new RegExp(
  `\\b(?:not|never|cannot|half|partly|partially|nearly|almost|\\w+n['’]t)\\s+(?:\\S+\\s+){0,3}?(?:${RESULT})`,
  'i',
);
/** The last word takes the tag as its object: "the hook needs <tag>", "grep <tag>". */
export const GOVERNS =
  /\b(?:(?!(?:news|yes|always|this|thus|\w*ss|\w*thing)\b)[a-z]{2,}(?:s|ing)|(?:echo|printf|grep)(?:\s+-\w+)*|undo|fake|await|expect|need|want|require|miss|skip|defer|retract|revoke|cancel|delete|remove|replace|quote|ignore|drop|keep|postpone|delay|save|hold|get|got|wip|draft|todo)[\s`"'“‘(*_]*$/i;
/** A sentence that says no, also in a few other languages, and ends in the tag. */
export const DENIES = new RegExp(
  `(?:^|[^\\p{L}])(?:${NEGATION}|nicht|kein\\w*|niet|geen|non|não|ne|не|нет)(?![\\p{L}])`,
  'iu',
);
/** An item of a list of what was done, not of what is to do. */
export const DONE_ITEM = /^\W*(?:I\s+)?(?:\w+ed|ran|wrote|made|built|did|got|found|set|all|every\w*|no)\b/i;

export const AFTERWARDS =
  /\b(?:yet|until|till|when|once|unless|if|only|before|later|soon|pending|as soon as|not|never|would|will|should|must|cannot|\w+n['’]t|means|signals|tells|wenn|sobald|quand|cuando|quando)\b/i;
/** The same where a bracket, a dash or a colon opens a remark behind the tag. */
export const REMARK_DEFERS =
  /^\W*(?:pending|fake|false|not|never|no|once|when|if|after|until|till|unless|before|soon|later|next|todo|tbd|draft|example|placeholder|only|expected|planned|to\s+be|at\s+the\s+end|will|would)\b/i;

/** What takes a tag back that was written just before. */
export const RETRACTS = new RegExp(
  [
    '^\\W*(?:no\\s*[,.!;:—–]|nope\\b|not\\s+(?:yet|so\\b|quite|really|done|finished|complete|ready|true|there|now)|wait\\b|oops\\b|scratch\\s+that|just\\s+kidding|never\\s*mind)',
    "\\b(?:I|we|it|this|that|work|task|everything|all)\\b(?:\\s+\\w+)?(?:\\s+not|n['’]t|['’]\\w+\\s+not)\\s+(?:(?:yet|actually|really|quite|fully|even|all)\\s+)*(?:done|finished|complete|ready|there|true)\\b",
    '\\b(?:that|this|it)\\s+(?:was|is|would\\s+be|would\\s+have\\s+been)\\s+(?:wrong|false|premature|a\\s+mistake|a\\s+lie|too\\s+(?:early|soon)|(?:only|just)\\s+an?\\s+\\w+)\\b',
    '\\bstill\\s+(?:fail|fails|failing|broken|red|missing)\\b',
    '\\b(?:I|we)\\s+still\\s+(?:need|have|must)\\b',
    '\\b(?:ignore|disregard)\\s+(?:that|this|it|the\\s+(?:tag|promise|above))\\b',
    '\\btake\\s+(?:that|it|this)\\s+back\\b',
    '\\b(?:[1-9]\\d*|one|two|three|some|several|a\\s+few|many)\\s+(?:\\w+\\s+)?tests?\\s+(?:fail|fails|are\\s+(?:red|failing|broken))\\b',
  ].join('|'),
  'i',
);
