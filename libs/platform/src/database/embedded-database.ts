import { PGlite } from '@electric-sql/pglite';
import { createPgConfig, type PGlitePgConfig } from '@electric-sql/pglite/node-postgres';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** PostgreSQL in this process (WASM), in `<data folder>/postgres`. */
export class EmbeddedDatabase {
  private pglite: PGlite | undefined;

  /** Options for a node-postgres pool. It has one connection, so a transaction must not wait for a query outside it. */
  open(dataDir: string): PGlitePgConfig {
    const folder = join(dataDir, 'postgres');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.pglite = new PGlite(folder);
    return createPgConfig(this.pglite);
  }

  async close(): Promise<void> {
    const open = this.pglite;
    this.pglite = undefined;
    await open?.close();
  }
}
