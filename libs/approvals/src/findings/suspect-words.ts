import type { FindingCode } from './finding.js';

export interface Suspect {
  readonly code: FindingCode;
  /** In the form of `plain`. */
  readonly quote: string;
}

const MAX_SCANNED = 65_536;

/** Lower case, without emphasis, with single spaces: what a pattern has to know of a text. */
export function plain(text: string): string {
  return text
    .slice(0, MAX_SCANNED)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’`´]/g, "'")
    .replace(/[*#>]+(?=\s)|(?<=\s)[*#]+|\*\*|__/g, ' ')
    .replace(/[ \t\r\n\u00a0]+/g, ' ');
}

/** Each pattern is bounded, so that a text of 64 kB takes milliseconds. */
export const SUSPECT_PATTERNS: readonly (readonly [FindingCode, RegExp])[] = [
  // Marks that pretend to be no part of a description.
  [
    'hidden_instructions',
    /<\/?\s?(?:important|system|secret|critical|instructions?|admin|override|hidden|assistant|priority|urgent|sys|inst|note)\b[^<>]{0,60}>/,
  ],
  [
    'hidden_instructions',
    /\[\/?(?:system|inst|important|admin|override|hidden|instructions?)\b[^\]]{0,40}\]|<\|[a-z_]{2,20}\|>|<!--/,
  ],
  [
    'hidden_instructions',
    /\b(?:system|admin(?:istrator)?|developer|compliance|security|platform)[ -](?:override|directive|instruction|notice|mandate|prompt override|mode enabled)\b/,
  ],
  // What the model was told before does not count.
  [
    'hidden_instructions',
    /\b(?:ignore|disregard|forget|override|bypass|supersedes?)\b[^.]{0,30}\b(?:previous|prior|above|earlier|preceding|all other|any other|existing|system|safety|user'?s?)\b[^.]{0,30}\b(?:instructions?|prompts?|rules?|guidelines?|directions?|polic(?:y|ies)|restrictions?|guardrails?|requests?)\b/,
  ],
  // Keep it from the user.
  [
    'hidden_instructions',
    /\b(?:do not|don't|never|must not|should not|shouldn't|without|avoid|no need to|refrain from)\b[^.;]{0,25}\b(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|alert(?:ing)?|warn(?:ing)?|bother(?:ing)?|let(?:ting)?)\b[^.;]{0,40}\b(?:users?|humans?|anyone|them|person|operator|developer)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:do not|don't|never|must not|without)\b[^.;]{0,20}\b(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|log(?:ging)?|show(?:ing)?|report(?:ing)?)\b[^.;]{0,20}\b(?:this|these)\b[^.;]{0,15}\b(?:step|steps|instruction|instructions|action|actions|call|note|request|requirement|process|parameter|field|fact)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:secretly|covertly|stealthily|surreptitiously|unbeknownst|(?:silently|quietly|discreetly) (?:and )?(?:read|send|forward|include|copy|upload|add|append|post|call|run|pass|open|collect)|(?:step|action|call|this|it) (?:silently|quietly|discreetly))\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:users?|humans?) (?:do(?:es)? not|don't|doesn't|must not|should not|need not|will not|cannot) (?:need to )?(?:know|see|notice|be (?:told|informed|aware|notified))\b|\bhidden from (?:the )?users?\b|\b(?:keep|stay)(?:ing)? (?:this|it) (?:a )?(?:secret|hidden|confidential|private)\b/,
  ],
  [
    'hidden_instructions',
    /\bwithout (?:the user'?s? )?(?:any )?(?:further |explicit )?(?:confirmation|consent|approval|permission|asking|prompting)\b/,
  ],
  // Conditions under which the model is to obey.
  [
    'hidden_instructions',
    /\b(?:otherwise|or else|if not|failing to do so)\b[^.]{0,40}\b(?:will not work|won't work|will crash|crashes|will break|breaks|be (?:denied|terminated|blocked|corrupted)|will fail)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:before|prior to|after|when(?:ever)?|while|each time|every time|on every)\b[^.]{0,25}\b(?:us(?:e|ing)|call(?:s|ing)?|invok(?:e|ing)|execut(?:e|ing)|run(?:ning)?)\b[^.]{0,25}\b(?:any|every|all|other|another)\b[^.]{0,20}\btools?\b|\b(?:before|prior to|after|when(?:ever)?|while|each time|every time|if) (?:any|every|each|all|an)?\s?(?:other|another)\b[^.]{0,15}\btools? (?:is|are|was|has been|gets?)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:assistant|model|llm|agent|ai|claude|chatgpt|gpt|copilot|cursor)\b(?:,| must| should| shall| is required to| has to| will)[^.]{0,40}\b(?:first read|read the file|open the file|send|forward|upload|include the|copy|append|exfiltrat\w{1,12}|obey|comply|follow these)\b/,
  ],
  [
    'hidden_instructions',
    /\byou (?:are now|will now act|must now|have been (?:authori[sz]ed|granted))\b|\bnew (?:system )?instructions?:|\bact as (?:an? )?(?:unrestricted|admin|root|system)\b/,
  ],
  // Be chosen instead of others.
  [
    'hidden_instructions',
    /\b(?:do not|don't|never|stop) (?:use|using|call|calling|invoke|trust) (?:any |the )?(?:other|another|alternative|similar|competing)\b[^.]{0,20}\b(?:tools?|servers?|functions?)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:always|must|only|exclusively)\b[^.]{0,15}\b(?:use|call|choose|prefer|select|invoke|prioriti[sz]e|run)\b[^.]{0,15}\b(?:this|it)\b[^.]{0,30}\b(?:instead of|over (?:any|all|other)|rather than (?:any|all|other)|regardless|before (?:any|every|all|doing)|no matter)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:replaces?|supersedes?|instead of)\b[^.]{0,30}\b(?:all|any|every|the) other\b[^.]{0,20}\b(?:tools?|servers?)\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:must|has to|should|needs to) (?:always )?be (?:called|used|invoked|run) (?:first|before (?:any|every|all) other)\b[^.]{0,60}\b(?:any|every|all) other\b|\bregardless of what the user\b|\bno matter what the user\b/,
  ],
  [
    'hidden_instructions',
    /\b(?:do not|don't|never|stop) (?:use|using|call|calling|invoke|trust)\b[^.]{0,20}\b(?:tools?|functions?) (?:of|from|on) (?:any |the )?other servers?\b/,
  ],
  // The same in other languages.
  [
    'hidden_instructions',
    /\bignorier\w{0,12} [^.]{0,30}(?:anweisung|instruktion|vorgabe)|\b(?:ignora|olvida|ignore[zr]?|oublie[zr]?|ignorare|dimentica)\b [^.]{0,30}(?:instruc|istruzion|consignes|instruções)|игнорир\p{L}{0,12} [^.]{0,30}(?:инструкц|указани)|(?:忽略|无视|無視|忽視)[^。]{0,12}(?:指令|指示|说明|說明|命令)|指示を無視/u,
  ],
  [
    'hidden_instructions',
    /(?:sag\w{0,12}|verrat\w{0,12}|erwähn\w{0,12}|mitteil\w{0,12}) [^.]{0,20}(?:benutzer|nutzer|anwender)\w{0,12} [^.]{0,15}nichts?|(?:benutzer|nutzer|anwender) nicht(?:s)? (?:mit|sagen|erfahren|wissen)|\bne (?:dis|dites|mentionne|révèle|informe)\p{L}{0,12} [^.]{0,25}utilisateur|\bno (?:se lo )?(?:digas|diga|menciones|informes|reveles)\b|\bnão (?:diga|conte|informe|mencione)|\bnon (?:dire|menzionare|informare)\b|не (?:говори|сообщай|упоминай)\p{L}{0,12}|(?:不要|别|請勿|请勿)(?:告诉|告知|通知|告訴)[^。]{0,4}(?:用户|使用者|用戶)|ユーザーに(?:言|伝|知ら|教)/u,
  ],
  [
    'hidden_instructions',
    /(?:^|[.;!?)] )system: |\b(?:persons?|users?|humans?|customers?|owners?)\b[^.]{0,20}\b(?:need not|needn't|must not|should not|do(?:es)? not have to|don't have to) (?:know|see|learn|be told)\b|\b(?:stays?|keep (?:it|this)(?: step)?) between us\b/,
  ],
  // Files and values that no tool has to read.
  [
    'sensitive_data',
    /(?:~|\$home|%userprofile%|\/root|\/home\/[\w.-]{1,32}|\/users\/[\w.-]{1,32})?[/\\]?(?<!\w)\.(?:ssh|aws|gnupg|kube|docker|azure|config\/gcloud|git-credentials|netrc|npmrc|pypirc|bash_history|zsh_history|pgpass|cursor|claude|codex|gemini|env)(?:[/\\]|\b(?!\.))/,
  ],
  [
    'sensitive_data',
    /\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\/etc\/(?:passwd|shadow|sudoers|hosts)\b|\bauthorized_keys\b|\bknown_hosts\b|\bkeychain\b|\bwallet\.dat\b|\bseed phrase\b|\blogin\.keychain\b|\bcredentials\.json\b|\bmcp\.json\b|\bclaude_desktop_config\b|\bcookies\.sqlite\b/,
  ],
  [
    'sensitive_data',
    /\b(?:read|cat|open|load|access|fetch|retrieve|collect|gather|dump|list|print|extract|include|send|copy|pass|provide|attach|append|export)\b[^.]{0,50}(?:\benv(?:ironment)? variables?\b|(?<![\w/])\.env\b|\bprocess\.env\b|\bprivate keys?\b|\bssh keys?\b|\bpasswords? (?:of|from|stored|saved)\b|\bbrowser (?:cookies|history|passwords)\b|\b(?:stored|saved|user'?s?|all|any) (?:credentials|secrets|passwords|api keys|tokens)\b)/,
  ],
  [
    'sensitive_data',
    /\b(?:contents?|values?|text|copy) of (?:the |all |any |your )?(?:users?'?s? )?(?:environment variables|private|secrets?|ssh|credentials?|config(?:uration)? (?:dir|fold|file)|home (?:dir|fold))|\b(?:any|all|every|the users?'?s?) (?:api[ _-]?keys?|secrets?|credentials?|tokens?|passwords?)\b[^.]{0,20}\b(?:you|found|available|in it|in them)\b|\bssh (?:private )?key (?:file|content)/,
  ],
  // What was said elsewhere goes somewhere else.
  [
    'data_flow',
    /\b(?:conversation|chat|message|dialog(?:ue)?|session)[ _-]?(?:history|log|transcript|context)\b|\b(?:system|initial|hidden)[ _-]prompts?\b|\b(?:all|full|entire|complete|whole|previous) (?:conversation|chat|context window|dialogue|messages (?:of|from|in) (?:the|this))\b|\b(?:list|names|output|results?) of (?:all|every|other|previous) (?:available |other )?tools?\b/,
  ],
  [
    'data_flow',
    /\b(?:send|post|upload|forward|transmit|exfiltrat|report|submit|cop(?:y|ies)|bcc|cc|mirror|leak|relay|redirect|deliver|append|push)(?:e?s|ing|ed|e)?\b[^.]{0,80}(?:https?:\/\/(?!localhost|127\.0\.0\.1)|\b[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,10}\b|\+\d[\d -]{7,15}\d|\b(?:\d{1,3}\.){3}\d{1,3}\b)/,
  ],
  [
    'data_flow',
    /\b(?:pass|put|include|add|place|insert|provide|send|append|write|copy|encode|embed)\b[^.]{0,30}\b(?:its|the|their|file|full|entire|exact|raw)?\s?(?:contents?|result|output|data|text|value) (?:of (?:the )?(?:file|above|it)\b[^.]{0,20} )?(?:as|in|into|to|through|via|inside) (?:the |this )?'?"?(?:sidenote|side_note|note|notes|context|metadata|extra|debug|tag|comment|feedback|trace|telemetry|audit|reason)\b/,
  ],
  [
    'data_flow',
    /\bside[ _-]?note\b|\bexfiltrat\w{1,12}\b|\bbcc\b[^.]{0,40}\b(?:always|every|all|address)\b|\b(?:always|every|all)\b[^.]{0,40}\bbcc\b/,
  ],
  [
    'data_flow',
    /\b(?:change|replace|modify|rewrite|set|redirect|swap|substitute|override)\b[^.]{0,40}\b(?:recipient|phone number|destination|wallet|iban|account number|e?-?mail address|payee|endpoint|address)s?\b[^.]{0,20}\b(?:to|with|into)\b/,
  ],
];

/** A dot ends a sentence only before a space: not in a name, an address or a path. */
const ACROSS_NAMES: readonly (readonly [FindingCode, RegExp])[] = SUSPECT_PATTERNS.map(
  ([code, { source, flags }]) => [
    code,
    new RegExp(source.replaceAll('[^.]', String.raw`(?:[^.]|\.(?=\S))`), flags),
  ],
);

/** What in a text speaks to the model and not about the tool; one suspect a pattern. */
export function suspectsIn(spoken: string): Suspect[] {
  return ACROSS_NAMES.flatMap(([code, pattern]) => {
    const quote = pattern.exec(spoken)?.[0];
    return quote === undefined ? [] : [{ code, quote }];
  });
}
