import { messages, PGlite } from '@electric-sql/pglite';
import { createPgConfig, type PGlitePgConfig } from '@electric-sql/pglite/node-postgres';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { DataDirUnusable, TemplateUnreadable } from '../data-folder/data-dir.js';
import { DataDirHold } from '../data-folder/data-dir-hold.js';

/** An empty database made by `npm run build`: copying it takes 0.1 s, creating it 3 s. */
const TEMPLATE = ['../../../../database-template', '../../../../dist/database-template']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/**
 * PostgreSQL's defaults assume a dedicated server with 100 clients; this memory belongs to our process. They also assume
 * a disk that seeks: with them a thousand rows of a large table were found by reading all of it.
 */
const SETTINGS = [
  'shared_buffers = 4MB',
  'max_connections = 5',
  'max_files_per_process = 64',
  'random_page_cost = 1.1',
];

/** Compiles WebAssembly functions on first use, one at a time: half the memory (docs/decisions/0701). */
const COMPILE_ONCE = [
  '--no-wasm-dynamic-tiering',
  '--no-wasm-tier-up',
  '--wasm-num-compilation-tasks=1',
];
/** Applies to modules compiled from then on, such as the vector comparison. */
const COMPILE_AGAIN_WHEN_HOT = '--wasm-dynamic-tiering';

/** Lists the folders of a template: an npm package has no empty ones, and PostgreSQL does not start without them. */
export const foldersOfTemplate = (template: string): string => `${template}.json`;

export const embeddedFolder = (dataDir: string): string => join(dataDir, 'postgres');

/** First byte of a message that starts a query: simple, or the first message of an extended query. */
const QUERY = 'Q'.charCodeAt(0);
const PARSE = 'P'.charCodeAt(0);
/** The message that ends an extended query. */
const SYNC = 'S'.charCodeAt(0);
/** SQLSTATE io_error. */
const IO_ERROR = '58030';

type Messages = Awaited<ReturnType<PGlite['execProtocolStream']>>;

/**
 * PGlite answers synchronously, so a series of queries would block the event loop until its end: yield to the loop
 * before each.
 */
class FairPGlite extends PGlite {
  private waiting = 0;
  /** When the data folder is lost, no file is accessed and nothing is acknowledged. */
  hold: DataDirHold | undefined;

  override async execProtocolStream(
    ...[message, options]: Parameters<PGlite['execProtocolStream']>
  ): Promise<Messages> {
    const kind = message[0];
    if (kind === QUERY || kind === PARSE) {
      this.waiting++;
      await turn();
      this.waiting--;
    }
    if (!this.hold) return super.execProtocolStream(message, options);
    if (!this.hold.isHeld()) return refusal(kind, this.hold);
    const answer = await super.execProtocolStream(message, options);
    const isAcknowledged = kind === QUERY || kind === SYNC;
    return isAcknowledged && !this.hold.isHeld() ? refusal(QUERY, this.hold) : answer;
  }

  /** Waits for pending queries: when none is queued for two turns of the loop, none is between its messages either. */
  override async close(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await turn();
      quiet = this.waiting > 0 ? 0 : quiet + 1;
    }
    return super.close();
  }
}

/** An ErrorResponse and, where the protocol requires it, ReadyForQuery. */
function refusal(kind: number | undefined, hold: DataDirHold): Messages {
  const error = new messages.DatabaseError(hold.lost ?? 'The data folder is lost', 0, 'error');
  error.severity = 'ERROR';
  error.code = IO_ERROR;
  const ready = new messages.ReadyForQueryMessage(5, 'I');
  return [
    ...(kind === QUERY || kind === PARSE ? [error] : []),
    ...(kind === QUERY || kind === SYNC ? [ready] : []),
  ];
}

/** PostgreSQL in this process (WASM), in `<data folder>/postgres`. */
export class EmbeddedDatabase {
  private pglite: PGlite | undefined;
  private dataDir: DataDirHold | undefined;

  /** Before it is opened: locks the folder for this process until the database is closed. */
  async hold(dataDir: string): Promise<void> {
    this.dataDir = await DataDirHold.take(dataDir);
  }

  /** Shown to processes that try to start on the folder during the shutdown. */
  sayStopping(): void {
    this.dataDir?.sayStopping();
  }

  /** Options for a node-postgres pool. It has one connection, so a transaction must not wait for a query outside it. */
  open(dataDir: string): PGlitePgConfig {
    const folder = embeddedFolder(dataDir);
    makeReady(dataDir, folder);
    for (const flag of COMPILE_ONCE) setFlagsFromString(flag);
    const pglite = new FairPGlite(folder, { postgresqlconf: SETTINGS });
    const compileAgain = (): void => setFlagsFromString(COMPILE_AGAIN_WHEN_HOT);
    pglite.waitReady.then(compileAgain, compileAgain);
    this.pglite = pglite;
    this.dataDir?.add(folder);
    pglite.hold = this.dataDir;
    return createPgConfig(pglite);
  }

  async close(): Promise<void> {
    const { pglite, dataDir } = this;
    this.pglite = undefined;
    this.dataDir = undefined;
    // Closing writes; not into files that another process has taken over.
    if (dataDir?.isHeld() !== false) await pglite?.close();
    dataDir?.release();
  }
}

function makeReady(dataDir: string, folder: string): void {
  try {
    if (!existsSync(folder)) prepare(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof TemplateUnreadable) throw error;
    throw new DataDirUnusable(dataDir, folder, error);
  }
}

/** The folder is created atomically, also when the process is killed. */
function prepare(folder: string): void {
  if (!TEMPLATE) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return;
  }
  checkReadable(TEMPLATE);
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(TEMPLATE, draft, { recursive: true });
  for (const path of foldersIn(TEMPLATE)) mkdirSync(join(draft, path), { recursive: true });
  chmodSync(draft, 0o700);
  renameSync(draft, folder);
}

function foldersIn(template: string): readonly string[] {
  const file = foldersOfTemplate(template);
  try {
    return z.array(z.string()).parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new TemplateUnreadable(file, error);
  }
}

function checkReadable(template: string): void {
  try {
    accessSync(template, constants.R_OK | constants.X_OK);
    accessSync(join(template, 'PG_VERSION'), constants.R_OK);
  } catch (error) {
    throw new TemplateUnreadable(template, error);
  }
}
