import { longestFirst } from '../connection/redact.js';
import { type ResolvedTransport } from '../connection/resolve-config.js';
import { oauthSecrets } from '../connection/oauth-settings.js';

/** Words in the names of headers, variables, flags and parameters that hold credentials. */
const SECRET_WORDS = new Set(
  `token tokens key keys apikey secret secrets password passwd passphrase pass pwd auth authorization
   credential credentials cookie session bearer jwt pat signature sas dsn`.split(/\s+/),
);
const SECRET_END = /(?:token|key|secret|password|passwd|pwd|credentials?)$/i;
/** Prefixes of API keys by provider, as secret scanners know them. */
const KNOWN_FORMS =
  /^(?:gh[opsur]_|github_pat_|glpat-|sk-|sk_|pk_|rk_|xox[abeoprs]-|AKIA|ASIA|AIza|ya29\.|eyJ[\w-]+\.eyJ|hf_|npm_|pypi-|dop_v1_|shpat_|SG\.|-----BEGIN)/;
/** Long runs of mixed letters and digits, which no name or word has; those of UUIDs are shorter. */
const RANDOM = /(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}/;
/**
 * Plain words such as `enabled`, `Bearer`, `production`, and short numbers: redacting them would damage ordinary
 * text.
 */
const ORDINARY = /^(?:[A-Za-z]{1,11}|\d{1,9})$/;

type Named = readonly [name: string, value: string];

/**
 * The credentials in a configuration, which are redacted from server output. Narrower than `secretsOf`, which
 * serves our own messages: results must arrive unchanged, so a folder, a region or a name from the configuration
 * must not be redacted from them (docs/decisions/0412).
 */
export function credentialsOf(
  resolved: ResolvedTransport,
  /** Values of a person, which are credentials whatever they look like. */
  personal: readonly string[] = [],
): string[] {
  const named: Named[] =
    resolved.kind === 'STDIO'
      ? [...Object.entries(resolved.env), ...namedArgs(resolved.args)]
      : [...Object.entries(resolved.headers), ...namedParts(resolved.url)];
  const found = named.flatMap(([name, value]) =>
    isCredential(name, value) ? [value, ...withoutScheme(value)] : [],
  );
  const { oauth, exchange } = resolved.kind === 'STDIO' ? NOTHING : resolved;
  const agreed = [...(oauth ? oauthSecrets(oauth) : []), exchange?.client_secret ?? ''];
  return longestFirst([...found, ...personal, ...agreed]).filter((value) => !ORDINARY.test(value));
}

const NOTHING = { oauth: undefined, exchange: undefined };

export function isCredential(name: string, value: string): boolean {
  if (KNOWN_FORMS.test(value)) return true;
  return hasSecretName(name) || (!isPlace(value) && RANDOM.test(value));
}

function hasSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').split(/[^A-Za-z0-9]+/);
  return SECRET_END.test(name) || words.some((word) => SECRET_WORDS.has(word.toLowerCase()));
}

/** A path or a URL: the whole value is no credential, but its parts may be. */
function isPlace(value: string): boolean {
  return /^(?:[.~]{0,2}\/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*:\/\/)/i.test(value);
}

/** Arguments by flag name: `--token=x`, `--token x`, and the parts of URLs. */
function namedArgs(args: readonly string[]): Named[] {
  return args.flatMap((arg, index): Named[] => {
    const [, flag, value] = /^(-[^=]*)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined && value !== undefined) return [[flag, value], ...namedParts(value)];
    if (arg.startsWith('-')) return [];
    const before = args[index - 1] ?? '';
    return [[before.startsWith('-') ? before : '', arg], ...namedParts(arg)];
  });
}

function namedParts(value: string): Named[] {
  if (!URL.canParse(value)) return [];
  const { username, password, searchParams } = new URL(value);
  const parts: Named[] = [
    ['user', decoded(username)],
    ['password', decoded(password)],
    ...searchParams.entries(),
  ];
  return parts.flatMap(([name, part]): Named[] => [
    [name, part],
    [name, encodeURIComponent(part)],
  ]);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The token of `Bearer token`; for `Basic` also the decoded password. */
function withoutScheme(value: string): string[] {
  const [, scheme = '', rest = ''] = /^([A-Za-z]+) +(\S+)$/.exec(value) ?? [];
  if (rest === '') return [];
  if (scheme.toLowerCase() !== 'basic') return [rest];
  const pair = Buffer.from(rest, 'base64').toString('utf8');
  return [rest, pair, pair.slice(pair.indexOf(':') + 1)];
}
