import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { brotliDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { fixture } from './peers.js';

// What version 0.1.0 left behind, made by test/fixtures/upgrade/make.mjs.

export const MIGRATIONS_010 = 6;

/** Statements that 0.1.0 sends to its database. */
export const statements010 = z
  .array(z.string())
  .parse(JSON.parse(readFileSync(fixture('upgrade/statements.json'), 'utf8')));

/** The data folder, with an embedded database and the key of its credentials. */
export function unpackFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const input = brotliDecompressSync(readFileSync(fixture('upgrade/folder.tar.br')));
  const { status, stderr } = spawnSync('tar', ['-xf', '-', '-C', folder], { input });
  if (status !== 0) throw new Error(`tar: ${String(stderr)}`);
}

/** The database of PostgreSQL, into an empty one. */
export async function loadDump(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    brotliDecompressSync(readFileSync(fixture('upgrade/database.sql.br'))).toString(),
  );
  await client.end();
}
