import { PGlite } from '@electric-sql/pglite';
import { createPgConfig, type PGlitePgConfig } from '@electric-sql/pglite/node-postgres';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** A database without data made by `npm run build`: copying it takes 0.1 s, making it 3 s. */
const TEMPLATE = ['../../../../database-template', '../../../../dist/database-template']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/** The defaults are for a server of its own with 100 clients; its memory is ours from the first moment on. */
const SETTINGS = ['shared_buffers = 4MB', 'max_connections = 5'];

/** Once for every function that is used, one after the other: half the memory (docs/decisions/0701). */
const COMPILE_ONCE = [
  '--no-wasm-dynamic-tiering',
  '--no-wasm-tier-up',
  '--wasm-num-compilation-tasks=1',
];
/** Holds for modules made from then on, such as the one that compares vectors. */
const COMPILE_AGAIN_WHEN_HOT = '--wasm-dynamic-tiering';

export const embeddedFolder = (dataDir: string): string => join(dataDir, 'postgres');

/** How a message begins with which a client asks something: a simple query, or the first of an extended one. */
const QUERY = 'Q'.charCodeAt(0);
const PARSE = 'P'.charCodeAt(0);

/**
 * A query is answered without waiting for anything, so those that follow it would be too, and nobody would be served
 * until the last of them: a turn of the loop before each lets calls through.
 */
class FairPGlite extends PGlite {
  private waiting = 0;

  override async execProtocolStream(
    ...[message, options]: Parameters<PGlite['execProtocolStream']>
  ): ReturnType<PGlite['execProtocolStream']> {
    if (message[0] === QUERY || message[0] === PARSE) {
      this.waiting++;
      await turn();
      this.waiting--;
    }
    return super.execProtocolStream(message, options);
  }

  /** What was asked before is answered: when nothing waits for two turns, nothing is between its messages either. */
  override async close(): Promise<void> {
    for (let quiet = 0; quiet < 2;) {
      await turn();
      quiet = this.waiting > 0 ? 0 : quiet + 1;
    }
    return super.close();
  }
}

/** PostgreSQL in this process (WASM), in `<data folder>/postgres`. */
export class EmbeddedDatabase {
  private pglite: PGlite | undefined;

  /** Options for a node-postgres pool. It has one connection, so a transaction must not wait for a query outside it. */
  open(dataDir: string): PGlitePgConfig {
    const folder = embeddedFolder(dataDir);
    if (!existsSync(folder)) prepare(folder);
    for (const flag of COMPILE_ONCE) setFlagsFromString(flag);
    const pglite = new FairPGlite(folder, { postgresqlconf: SETTINGS });
    const compileAgain = (): void => setFlagsFromString(COMPILE_AGAIN_WHEN_HOT);
    pglite.waitReady.then(compileAgain, compileAgain);
    this.pglite = pglite;
    return createPgConfig(pglite);
  }

  async close(): Promise<void> {
    const open = this.pglite;
    this.pglite = undefined;
    await open?.close();
  }
}

/** The folder appears whole or not at all, also when the process is killed in between. */
function prepare(folder: string): void {
  if (!TEMPLATE) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return;
  }
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(TEMPLATE, draft, { recursive: true });
  renameSync(draft, folder);
}
