/**
 * `${NAME}` in a configured value is replaced by an environment variable of the service; `${NAME:-default}` uses
 * the default if the variable is unset or empty (as in a shell).
 */
const PLACEHOLDER = /\$\{((?:(?!:-)[^{}])*)(?::-([^{}]*))?\}/g;
const NESTED_DEFAULT = /\$\{(?:(?!:-)[^{}])*:-[^{}]*\$\{/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names between `${` and `}` or `:-`, valid or not. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? '');
}

export function hasNestedDefault(text: string): boolean {
  return NESTED_DEFAULT.test(text);
}

export function isVariableName(name: string): boolean {
  return VARIABLE.test(name);
}

const PERSONAL = /^user\.([A-Za-z_][A-Za-z0-9_]{0,63})$/;

/** The name in `${user.NAME}`: a value of the person who calls, for servers with credentials per person. */
export function personalField(placeholder: string): string | undefined {
  return PERSONAL.exec(placeholder)?.[1];
}

/** Names of the values that a text takes from the person who calls. */
export function personalFieldsIn(text: string): string[] {
  return placeholdersIn(text).flatMap((name) => personalField(name) ?? []);
}

/** Whether nothing stands in the place of a value of the person, so that the shared session has none. */
export function lacksShared(text: string): boolean {
  return [...text.matchAll(PLACEHOLDER)].some(
    ([, name = '', fallback]) => fallback === undefined && personalField(name) !== undefined,
  );
}

/** `fallback` is the default that the placeholder names. */
export type ValueOf = (name: string, fallback: string | undefined) => string;

export function substitute(text: string, valueOf: ValueOf): string {
  return text.replace(PLACEHOLDER, (_, name: string, fallback: string | undefined) =>
    valueOf(name, fallback),
  );
}

/** The value of a placeholder, given the value of its variable. */
export function valueOrDefault(
  value: string | undefined,
  fallback: string | undefined,
): string | undefined {
  return value === undefined || value === '' ? (fallback ?? value) : value;
}

export const MASK = '********';

/** Authentication schemes are no secret: `Bearer ${TOKEN}` is shown as written. */
const SCHEME = /^(?:Bearer|Basic|Digest|Token|ApiKey) $/i;

/** Keeps placeholders; masks every literal part and every default. */
export function maskLiterals(text: string): string {
  let masked = '';
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [placeholder, name = '', fallback] = match;
    masked += maskPiece(text.slice(end, match.index));
    masked += fallback === undefined ? placeholder : `\${${name}:-${maskPiece(fallback)}}`;
    end = match.index + match[0].length;
  }
  return masked + maskPiece(text.slice(end));
}

function maskPiece(piece: string): string {
  return piece === '' || SCHEME.test(piece) ? piece : MASK;
}
