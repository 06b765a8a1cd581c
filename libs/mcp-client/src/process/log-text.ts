import { cutText } from '@app/platform';

/** Enough bytes for the longest kept line in any script. */
export const MAX_LOG_LINE_BYTES = 16_384;
const MAX_LOG_LINE_CHARS = 2_000;
/** Masking shorter values would mask ordinary words of a log. */
const MIN_SECRET_CHARS = 6;
const MASK = '********';

/** Formats process output for the log: bounded in length, secrets of the process masked. */
export class LogText {
  private readonly secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.secrets = secrets
      .filter((secret) => secret.length >= MIN_SECRET_CHARS)
      // Longest first: one secret may be a prefix of another.
      .toSorted((a, b) => b.length - a.length);
  }

  /** Decodes no more of a line than is kept, as it may be millions of bytes long. */
  of(line: Buffer, prefix: string, isCut: boolean): string {
    const text = line.toString('utf8', 0, MAX_LOG_LINE_BYTES);
    const isPart = isCut || line.length > MAX_LOG_LINE_BYTES;
    const whole = isPart ? this.withoutHalfSecret(text) : text;
    const masked = this.secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), whole);
    return cutText(prefix + masked, MAX_LOG_LINE_CHARS);
  }

  /** Drops a secret that the cut truncated. */
  private withoutHalfSecret(text: string): string {
    for (const secret of this.secrets) {
      const start = secret.slice(0, MIN_SECRET_CHARS);
      const from = Math.max(0, text.length - secret.length + 1);
      for (let at = text.indexOf(start, from); at >= 0; at = text.indexOf(start, at + 1)) {
        if (secret.startsWith(text.slice(at))) return text.slice(0, at);
      }
    }
    return text;
  }
}
