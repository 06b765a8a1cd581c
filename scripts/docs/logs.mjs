/** Every line that a lib logs at info or above has an event of docs/logging.md, and the keys that it names. */
const LIST = 'docs/logging.md';
const CALL = /\b(?:logger|Logger\('\w+'\))\.(log|warn|error|fatal)\(/g;
const EVENT = /^[a-z_]+\.[a-z_]+$/;
const LISTED = /^\| `([a-z_]+\.[a-z_]+)`/gm;
/** Other spellings of the common keys. */
const WRONG_KEY = /[{,]\s*(serverId|serverName|requestId|toolName|toolId)\s*[,:}]/;

export function logProblems(files) {
  const problems = [];
  const used = new Set();
  for (const [path, text] of files) {
    if (text === undefined || !/^libs\/(?!.*\/generated\/).*\.ts$/.test(path)) continue;
    if (path.endsWith('spec.ts')) continue;
    for (const { index, args } of callsIn(text)) {
      const at = `${path}:${text.slice(0, index).split('\n').length}`;
      const events = eventsOf(args.at(-1) ?? '', text);
      for (const event of events) if (EVENT.test(event)) used.add(event);
      if (events.length === 0 || !events.every((event) => EVENT.test(event))) {
        problems.push(`${at} logs without an event: the message must be like 'server.connected'`);
      }
      const [, key] = WRONG_KEY.exec(args.slice(0, -1).join()) ?? [];
      if (key) problems.push(`${at} logs the key ${key}: use the keys of ${LIST}`);
    }
  }
  const listed = new Set([...(files.get(LIST) ?? '').matchAll(LISTED)].map(([, name]) => name));
  for (const event of used) {
    if (!listed.has(event)) problems.push(`${LIST} does not list the event ${event}`);
  }
  for (const event of listed) {
    if (!used.has(event)) problems.push(`${LIST} lists ${event}, which no lib logs`);
  }
  return problems;
}

function* callsIn(text) {
  for (const match of text.matchAll(CALL)) {
    const lineStart = text.lastIndexOf('\n', match.index) + 1;
    if (/^\s*(\*|\/\/)/.test(text.slice(lineStart, match.index))) continue;
    yield { index: match.index, args: argumentsAt(text, match.index + match[0].length) };
  }
}

/** The arguments that begin there, as text; commas in brackets and strings do not separate them. */
function argumentsAt(text, start) {
  const args = [''];
  let depth = 0;
  let quote;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
    } else if (/['"`]/.test(char)) quote = char;
    else if (/[([{]/.test(char)) depth++;
    else if (/[)\]}]/.test(char) && --depth < 0) break;
    else if (char === ',' && depth === 0) {
      args.push('');
      continue;
    }
    args[args.length - 1] += char;
  }
  return args.map((arg) => arg.trim()).filter((arg) => arg !== '');
}

/** The event itself, or the values of a constant that is read by a key. */
function eventsOf(message, text) {
  const [, literal] = /^'([^']*)'$/.exec(message) ?? [];
  if (literal !== undefined) return [literal];
  const [, name] = /^(\w+)\[/.exec(message) ?? [];
  const [, values = ''] = (name && new RegExp(`const ${name} = \\{([^}]*)\\}`).exec(text)) || [];
  return [...values.matchAll(/'([^']*)'/g)].map(([, value]) => value);
}
