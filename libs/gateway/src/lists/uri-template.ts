/** An RFC 6570 template, reduced to what decides whether a URI can match it. */
export class UriTemplate {
  /** The literal prefix of every matching URI. */
  readonly prefix: string;
  private readonly inner: readonly string[];
  /** Undefined when the template has no expression. */
  private readonly end: string | undefined;

  constructor(readonly text: string) {
    const [prefix = '', ...rest] = text.split(/\{[^{}]*\}/);
    this.prefix = prefix;
    this.end = rest.pop();
    this.inner = rest;
  }

  /** A template without a scheme could match the resources of any server. */
  get hasScheme(): boolean {
    return /^[a-z][a-z0-9+.-]*:/i.test(this.prefix);
  }

  /**
   * Whether the literal parts occur in the URI in order, from start to end. Linear time, because templates come
   * from untrusted servers.
   */
  matches(uri: string): boolean {
    const { prefix, inner, end } = this;
    if (end === undefined) return uri === prefix;
    if (!uri.startsWith(prefix) || !uri.endsWith(end)) return false;
    let from = prefix.length;
    for (const literal of inner) {
      const at = uri.indexOf(literal, from);
      if (at < 0) return false;
      from = at + literal.length;
    }
    return from <= uri.length - end.length;
  }
}
