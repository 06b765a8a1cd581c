import { PGlite } from '@electric-sql/pglite';
import { createPgConfig, type PGlitePgConfig } from '@electric-sql/pglite/node-postgres';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An empty database made by `npm run build`: copying it takes 0.1 s, making it 2.5 s. */
const TEMPLATE = ['../../../../database-template', '../../../../dist/database-template']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

/** The default of 128 MB is for a server of its own; its memory is ours from the first moment on. */
const SETTINGS = ['shared_buffers = 16MB'];

/** PostgreSQL in this process (WASM), in `<data folder>/postgres`. */
export class EmbeddedDatabase {
  private pglite: PGlite | undefined;

  /** Options for a node-postgres pool. It has one connection, so a transaction must not wait for a query outside it. */
  open(dataDir: string): PGlitePgConfig {
    const folder = join(dataDir, 'postgres');
    if (!existsSync(folder)) prepare(folder);
    this.pglite = new PGlite(folder, { postgresqlconf: SETTINGS });
    return createPgConfig(this.pglite);
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

/** Run by the build. */
export async function makeDatabaseTemplate(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const pglite = new PGlite(folder, { postgresqlconf: SETTINGS });
  await pglite.waitReady;
  await pglite.close();
}
