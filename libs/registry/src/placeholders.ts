/** `${NAME}` in a configured value stands for a variable of the service's environment. */
const PLACEHOLDER = /\$\{([^{}]*)\}/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names between `${` and `}`, valid or not. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? '');
}

export function isVariableName(name: string): boolean {
  return VARIABLE.test(name);
}

export function substitute(text: string, valueOf: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => valueOf(name));
}

export const MASK = '********';

/** An authentication scheme tells nothing: `Bearer ${TOKEN}` is shown as written. */
const SCHEME = /^(?:Bearer|Basic|Digest|Token|ApiKey) $/i;

/** Placeholders as written, every literal piece as the mask. */
export function maskLiterals(text: string): string {
  let masked = '';
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    masked += maskPiece(text.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return masked + maskPiece(text.slice(end));
}

function maskPiece(piece: string): string {
  return piece === '' || SCHEME.test(piece) ? piece : MASK;
}
