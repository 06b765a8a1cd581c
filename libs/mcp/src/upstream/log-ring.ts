const MAX_LINES = 500;
const MAX_LINE_CHARS = 2_000;
/** Shorter values would turn ordinary words of a log into asterisks. */
const MIN_SECRET_CHARS = 6;

/** The last lines a process wrote, without the secrets it was given. */
export class LogRing {
  private readonly lines: string[] = [];
  private readonly secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.secrets = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS);
  }

  add(line: string): void {
    const masked = this.secrets.reduce((text, secret) => text.replaceAll(secret, '********'), line);
    this.lines.push(masked.slice(0, MAX_LINE_CHARS));
    if (this.lines.length > MAX_LINES) this.lines.shift();
  }

  all(): readonly string[] {
    return [...this.lines];
  }

  last(): string | undefined {
    return this.lines.at(-1);
  }
}
