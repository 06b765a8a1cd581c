import { createHash } from 'node:crypto';
import { createSecretFile } from '@app/platform';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UnusableTokenFile } from '../access.errors.js';
import { newSecret } from '../tokens/issued-token.js';

export interface AdminToken {
  readonly file: string;
  readonly token: string;
  /** True if this start created it; only then is it shown. */
  readonly isNew: boolean;
  readonly isExposed: boolean;
}

/** The token of a service without configured tokens, in `<data folder>/admin-token`; created if missing. */
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
  const token = newSecret();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (!createSecretFile(file, `${token}\n`)) return adminToken(dataDir);
  return { file, token, isNew: true, isExposed: false };
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A configuration that most MCP clients accept. */
export function clientSnippet(url: string, token: string): string {
  const switchboard = {
    type: 'http',
    url: `${url}/mcp`,
    headers: { Authorization: `Bearer ${token}` },
  };
  return JSON.stringify({ mcpServers: { switchboard } }, null, 2);
}

/** Shown once on the terminal and never logged. */
export function adminTokenNotice(url: string, token: string, loginLink?: string): string {
  const console =
    loginLink === undefined
      ? ''
      : `
Open this in a browser within ten minutes; it logs in once ("switchboard login" prints another):

${loginLink}
`;
  return `${console}
No tokens are configured, so an admin token was created. It is shown only this once; paste this into your MCP client:

${clientSnippet(url, token)}

`;
}
