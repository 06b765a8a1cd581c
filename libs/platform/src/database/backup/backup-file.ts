import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { LineSplitter } from '../../bytes/line-splitter.js';
import { UNCOUNTED } from '../../bytes/growing-buffer.js';
import { AppError } from '../../errors/app-error.js';
import { errorCode } from '../../errors/error-code.js';

/** The file cannot be restored: another kind of file, cut off, or of a newer version. */
export class UnusableBackup extends AppError {
  constructor(file: string, problem: string) {
    super(`${file} cannot be restored: ${problem}.`, { kind: 'invalid', code: 'BACKUP_UNUSABLE' });
  }
}

const FORMAT = 1;
/** A row of a tool with a definition at the limit of its server. */
const MAX_LINE_BYTES = 256 * 1_048_576;

const headSchema = z.object({
  switchboard_backup: z.number(),
  version: z.string(),
  created_at: z.string(),
  /** Those that the database had; the rows have the columns of their tables. */
  migrations: z.array(z.string()).min(1),
});
const tableSchema = z.object({ table: z.string(), columns: z.array(z.string()) });
const endSchema = z.object({ end: z.literal(true), rows: z.number() });

export type BackupHead = Omit<z.infer<typeof headSchema>, 'switchboard_backup'>;

/** In the order of a backup: a head, then tables, each followed by its rows, then the end. */
export type BackupPart =
  | { readonly kind: 'head'; readonly head: BackupHead }
  | { readonly kind: 'table'; readonly table: string; readonly columns: readonly string[] }
  /** Text of a JSON object. */
  | { readonly kind: 'row'; readonly text: string };

/** Writes a backup as lines of JSON, compressed; readable only by its owner. The file must not exist. */
export class BackupWriter {
  private rows = 0;
  private readonly bytes = createGzip();
  private readonly written: Promise<void>;

  constructor(private readonly file: string) {
    this.written = pipeline(this.bytes, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    // It is awaited by the next line.
    this.written.catch(() => undefined);
  }

  async add(part: BackupPart): Promise<void> {
    if (part.kind === 'row') this.rows++;
    await this.line(lineOf(part));
  }

  async end(): Promise<void> {
    await this.line(JSON.stringify({ end: true, rows: this.rows }));
    this.bytes.end();
    await this.written;
  }

  /** Removes what was written, if this writer has made the file. */
  async abandon(): Promise<void> {
    this.bytes.destroy();
    const isForeign = await this.written.then(
      () => false,
      (error: unknown) => errorCode(error) === 'EEXIST',
    );
    if (!isForeign) await rm(this.file, { force: true });
  }

  private async line(text: string): Promise<void> {
    const isFull = !this.bytes.write(`${text}\n`);
    if (isFull || this.bytes.destroyed)
      await Promise.race([once(this.bytes, 'drain'), this.written]);
  }
}

function lineOf(part: BackupPart): string {
  switch (part.kind) {
    case 'head':
      return JSON.stringify({ switchboard_backup: FORMAT, ...part.head });
    case 'table':
      return JSON.stringify({ table: part.table, columns: part.columns });
    case 'row':
      // In JSON a line break is white space between two values. As an array, a row is no other kind of line.
      return `[${part.text.replaceAll(/[\r\n]+/g, ' ')}]`;
  }
}

/** Throws UnusableBackup, at the latest at the end of the file. */
export async function* readBackupFile(file: string): AsyncGenerator<BackupPart> {
  let isHead = true;
  let rows = 0;
  let end: z.infer<typeof endSchema> | undefined;
  for await (const line of linesIn(file)) {
    if (line.startsWith('[')) {
      rows++;
      yield { kind: 'row', text: line.slice(1, -1) };
      continue;
    }
    const value = parsed(line);
    if (isHead) {
      yield { kind: 'head', head: headIn(value, file) };
      isHead = false;
      continue;
    }
    const table = tableSchema.safeParse(value).data;
    if (table) yield { kind: 'table', ...table };
    else end = endSchema.safeParse(value).data;
  }
  if (end?.rows !== rows) throw new UnusableBackup(file, 'it is cut off or damaged');
}

function headIn(value: unknown, file: string): BackupHead {
  const head = headSchema.safeParse(value).data;
  if (!head) throw new UnusableBackup(file, 'it is no backup of Switchboard');
  if (head.switchboard_backup !== FORMAT) {
    throw new UnusableBackup(
      file,
      `its format is of Switchboard ${head.version}; restore it with that version`,
    );
  }
  return head;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* linesIn(file: string): AsyncGenerator<string> {
  const found: string[] = [];
  let isTooLong = false;
  const lines = new LineSplitter(
    { maxBytes: MAX_LINE_BYTES, room: UNCOUNTED },
    { onLine: (line) => found.push(line.toString('utf8')), onOversized: () => (isTooLong = true) },
  );
  const bytes = createGunzip();
  // A failure of either ends the other; the loop below throws it.
  void pipeline(createReadStream(file), bytes).catch(() => undefined);
  try {
    for await (const chunk of bytes) {
      lines.push(chunk as Buffer);
      if (isTooLong) throw new UnusableBackup(file, 'it has a line that is too long');
      yield* found.splice(0);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof Error && 'syscall' in error) throw error;
    throw new UnusableBackup(file, 'it is no backup of Switchboard, or it is cut off');
  }
}
