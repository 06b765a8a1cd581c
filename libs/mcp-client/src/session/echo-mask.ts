import { JsonStrings, Places } from './json-strings.js';

const MASK = '********';
const MASK_BYTES = Buffer.from(MASK);
/** Characters that no JSON writer escapes. */
const PLAIN_RUN = /[A-Za-z0-9_-]+/g;
/** A part of a secret that ordinary text does not contain: long, or shorter and with a digit. */
const TELLING = /^(?:.{12,}|(?=.*\d).{6,})$/;
/** Written the same in JSON, in JSON inside of a string and in URLs, and not a number. */
const PLAIN = /^(?=.*[A-Za-z])(?![\d.eE-]+$)[A-Za-z0-9_.-]+$/;
/** More echoes in one message than this are treated as an attack on our CPU time. */
const MAX_ECHOES = 1_000;
const MAX_REWRITTEN_BYTES = 1_048_576;

interface Secret {
  /** Safe to replace anywhere in the bytes: nothing outside of a string can look like it. */
  readonly isPlain: boolean;
  /** As written in text, in JSON inside of a string, and in a URL. */
  readonly forms: readonly string[];
  /** Byte sequences; at least one of them occurs where the secret does. */
  readonly needles: readonly Buffer[];
  /** The forms that a string without escapes can contain. */
  readonly plainForms: readonly Buffer[];
}

/**
 * Masks the credentials of a server in everything that the server sends (docs/decisions/0412). A frame without
 * one is searched and passed on as it is. Otherwise only the strings that contain one are rewritten; every
 * other byte stays.
 */
export class EchoMask {
  private readonly secrets: readonly Secret[];
  private knownHeader: string | undefined;
  private token: Secret | undefined;

  constructor(
    credentials: readonly string[],
    /** Holds the current header where credentials change. */
    private readonly authorizer?: { readonly header: string | undefined },
  ) {
    this.secrets = credentials.map(secretOf);
  }

  /** Masks one JSON text; undefined when too many strings would have to be rewritten. */
  frame(bytes: Buffer): Buffer | undefined {
    const found = this.secretsIn(bytes);
    if (found.length === 0) return bytes;
    const awkward = found.filter(({ isPlain }) => !isPlain);
    let told: Buffer | undefined = awkward.length > 0 ? withMaskedStrings(bytes, awkward) : bytes;
    for (const { isPlain, needles } of found) {
      const [needle] = needles;
      if (isPlain && needle && told) told = withMaskedBytes(told, needle);
    }
    return told;
  }

  /** Masks text of any kind. */
  text(text: string): string {
    const found = this.secretsIn(Buffer.from(text));
    return found.length === 0 ? text : masked(text, found);
  }

  private secretsIn(bytes: Buffer): readonly Secret[] {
    this.refreshToken();
    const { secrets, token } = this;
    if (secrets.length === 0 && !token) return NONE;
    const all = token ? [...secrets, token] : secrets;
    return all.filter(({ needles }) => needles.some((needle) => bytes.includes(needle)));
  }

  private refreshToken(): void {
    const header = this.authorizer?.header;
    if (header === this.knownHeader) return;
    this.knownHeader = header;
    this.token = header === undefined ? undefined : secretOf(header.replace(/^\S+ /, ''));
  }
}

const NONE: readonly Secret[] = [];

function secretOf(credential: string): Secret {
  const inJson = JSON.stringify(credential).slice(1, -1);
  const inJsonTwice = JSON.stringify(inJson).slice(1, -1);
  const forms = [...new Set([inJsonTwice, inJson, credential, encoded(credential)])];
  const [core = ''] = (credential.match(PLAIN_RUN) ?? []).toSorted((a, b) => b.length - a.length);
  const isPlain = PLAIN.test(credential);
  const needles = isPlain ? [credential] : TELLING.test(core) ? [core] : forms;
  const plainForms = forms.filter((form) => !/["\\]/.test(form));
  return { isPlain, forms, needles: bytesOf(needles), plainForms: bytesOf(plainForms) };
}

const bytesOf = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text));

/** A lone surrogate cannot be encoded, so it is never sent either. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function masked(text: string, secrets: readonly Secret[]): string {
  return secrets
    .flatMap(({ forms }) => forms)
    .reduce((told, form) => told.replaceAll(form, MASK), text);
}

function withMaskedBytes(bytes: Buffer, needle: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  let kept = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, kept)) {
    if (parts.length >= 2 * MAX_ECHOES) return undefined;
    parts.push(bytes.subarray(kept, at), MASK_BYTES);
    kept = at + needle.length;
  }
  return kept === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(kept)]);
}

/**
 * Reads only what is between quotes, so that numbers and the shape of the JSON stay. A string without escapes is masked
 * in its bytes; only one with escapes has to be decoded.
 */
function withMaskedStrings(bytes: Buffer, secrets: readonly Secret[]): Buffer | undefined {
  const needles = new Places(
    bytes,
    secrets.flatMap((secret) => secret.needles),
  );
  const forms = new Places(
    bytes,
    secrets.flatMap((secret) => secret.plainForms),
  );
  const strings = new JsonStrings(bytes);
  const rewriting = new Rewriting(bytes);
  let visited = 0;
  for (let hit = needles.from(0); strings.seek(hit); hit = needles.from(strings.end)) {
    if (++visited > MAX_ECHOES) return undefined;
    const { start, end } = strings;
    // A number looked like it.
    if (hit < start && needles.from(start) >= end) continue;
    if (!strings.hasEscapes) rewriting.mask(forms, start, end);
    else if (!rewriting.rewrite(start, end, secrets)) return undefined;
  }
  return rewriting.result;
}

/** The bytes with parts of them replaced, from the first to the last. */
class Rewriting {
  private readonly parts: Buffer[] = [];
  private kept = 0;
  private decodedBytes = 0;

  constructor(private readonly bytes: Buffer) {}

  get result(): Buffer {
    const { bytes, kept, parts } = this;
    return kept === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(kept)]);
  }

  mask(forms: Places, start: number, end: number): void {
    for (let at = forms.from(start); at < end; at = forms.from(this.kept)) {
      this.replace(at, at + forms.found, MASK_BYTES);
    }
  }

  /** False when too much had to be decoded. */
  rewrite(start: number, end: number, secrets: readonly Secret[]): boolean {
    this.decodedBytes += end - start;
    if (this.decodedBytes > MAX_REWRITTEN_BYTES) return false;
    const written = maskedString(this.bytes.subarray(start, end), secrets);
    if (written !== undefined) this.replace(start, end, Buffer.from(written));
    return true;
  }

  private replace(start: number, end: number, by: Buffer): void {
    this.parts.push(this.bytes.subarray(this.kept, start), by);
    this.kept = end;
  }
}

/** Undefined when the string contains no secret after all. */
function maskedString(string: Buffer, secrets: readonly Secret[]): string | undefined {
  let text: unknown;
  try {
    text = JSON.parse(string.toString('utf8'));
  } catch {
    return undefined; // Invalid JSON: the parser refuses the whole frame.
  }
  if (typeof text !== 'string') return undefined;
  const told = masked(text, secrets);
  return told === text ? undefined : JSON.stringify(told);
}
