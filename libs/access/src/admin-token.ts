import { createHash, randomBytes } from 'node:crypto';
import { createSecretFile } from '@app/platform';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UnusableTokenFile } from './access.errors.js';

export interface AdminToken {
  readonly file: string;
  readonly token: string;
  /** True when this start made it: the one time it is shown. */
  readonly isNew: boolean;
  readonly isExposed: boolean;
}

/** The token of a service that has none configured, in `<data folder>/admin-token`; made when it is not there. */
export async function adminToken(dataDir: string): Promise<AdminToken> {
  const file = join(dataDir, 'admin-token');
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) {
    const token = kept.trim();
    if (!/^[\x21-\x7e]{16,}$/.test(token)) throw new UnusableTokenFile(file);
    const readableByOthers =
      process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0;
    return { file, token, isNew: false, isExposed: readableByOthers };
  }
  // 256 random bits behind a prefix that scanners for leaked secrets can look for.
  const token = `switchboard_${randomBytes(32).toString('base64url')}`;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (!createSecretFile(file, `${token}\n`)) return adminToken(dataDir);
  return { file, token, isNew: true, isExposed: false };
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** What most MCP clients take, ready to paste. */
export function clientSnippet(url: string, token: string): string {
  const switchboard = {
    type: 'http',
    url: `${url}/mcp`,
    headers: { Authorization: `Bearer ${token}` },
  };
  return JSON.stringify({ mcpServers: { switchboard } }, null, 2);
}

/** What a person sees once, on the terminal and in no log: the token, and what to do with it. */
export function adminTokenNotice(url: string, token: string): string {
  return `
No tokens are configured, so an admin token was made. It is shown only this once; paste this into your MCP client:

${clientSnippet(url, token)}

`;
}
