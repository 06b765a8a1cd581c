import type { FailPoint } from '@app/platform';
import { Api } from '../support/api.js';
import { temporaryFolder } from '../support/env.js';
import { createDatabase } from '../support/postgres.js';
import { startProcess } from '../support/service-process.js';

const tokens = {
  MCP_AGGREGATOR_TOKENS: 'admin:admin:the-token-of-the-admin',
  MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
};

interface Seen {
  readonly views: number;
  readonly grants: number;
  readonly history: number;
  readonly audited: number;
}

async function seenBy(api: Api): Promise<Seen> {
  const count = async (path: string, key: string): Promise<number> => {
    const { body } = await api.call('GET', path);
    return (body[key] as unknown[]).length;
  };
  return {
    views: await count('/views', 'views'),
    grants: await count('/grants', 'grants'),
    history: await count('/policy/history', 'entries'),
    audited:
      (await count('/audit?event=view.saved', 'entries')) +
      (await count('/audit?event=grant.given', 'entries')) +
      (await count('/audit?event=grant.withdrawn', 'entries')),
  };
}

describe.each([
  ['PostgreSQL', async () => ({ DATABASE_URL: await createDatabase() })],
  ['PGlite', async () => ({})],
])('an import during which the process is killed, on %s', (_, database) => {
  it.each([
    ['before its commit changes nothing of any part', 'policy.written', 0],
    ['after its commit holds with every part', 'policy.committed', 1],
  ] as const)('%s', async (_what, point: FailPoint, done) => {
    const folder = await temporaryFolder();
    const settings = { ...tokens, ...(await database()) };
    const view = { rules: [], grants: [{ subject: 'anyone', level: 'call' }] };
    const views = { a: view, b: view, c: view };
    try {
      const armed = await startProcess(folder.path, {
        ...settings,
        MCP_AGGREGATOR_FAIL_POINT: point,
      });
      await expect(new Api(armed).call('POST', '/policy/import', { views })).rejects.toThrow();
      expect(await armed.exited).toBe('SIGKILL');
      const after = await startProcess(folder.path, settings);
      const { body } = await new Api(after).call('GET', '/views');
      expect(body).toMatchObject({ total: 1 + 3 * done });
      expect(await seenBy(new Api(after))).toMatchObject({
        history: 6 * done,
        audited: 6 * done,
      });
      after.child.kill('SIGTERM');
      await after.exited;
    } finally {
      await folder.remove();
    }
  });
});
