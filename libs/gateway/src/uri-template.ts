/**
 * Whether a URI can come from an RFC 6570 template: its literal parts stand in it in order, from the first
 * character to the last. Takes linear time, because templates come from servers we do not trust.
 */
export function templateMatches(template: string, uri: string): boolean {
  const literals = template.split(/\{[^{}]*\}/);
  const first = literals.shift() ?? '';
  const last = literals.pop();
  if (last === undefined) return uri === first;
  if (!uri.startsWith(first) || !uri.endsWith(last)) return false;
  let from = first.length;
  for (const literal of literals) {
    const at = uri.indexOf(literal, from);
    if (at < 0) return false;
    from = at + literal.length;
  }
  return from <= uri.length - last.length;
}
