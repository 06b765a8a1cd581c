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
])('a change of the policy during which the process is killed, on %s', (_, database) => {
  it.each([
    ['before its commit changes nothing', 'policy.written', 0],
    ['after its commit holds, with its history and audit entry', 'policy.committed', 1],
  ] as const)('%s', async (_what, point: FailPoint, done) => {
    const folder = await temporaryFolder();
    const settings = { ...tokens, ...(await database()) };
    try {
      const first = await startProcess(folder.path, settings);
      const api = new Api(first);
      await api.call('POST', '/views', { slug: 'crew', rules: [{ effect: 'include' }] });
      const { body } = await api.call('POST', '/grants', {
        view: 'crew',
        subject_kind: 'token',
        subject: 'ci',
        level: 'call',
      });
      const before = await seenBy(api);
      first.child.kill('SIGTERM');
      await first.exited;

      const armed = await startProcess(folder.path, {
        ...settings,
        MCP_AGGREGATOR_FAIL_POINT: point,
      });
      await expect(
        new Api(armed).call('DELETE', `/grants/${String(body['id'])}`),
      ).rejects.toThrow();
      expect(await armed.exited).toBe('SIGKILL');

      const after = await startProcess(folder.path, settings);
      expect(await seenBy(new Api(after))).toEqual({
        views: before.views,
        grants: before.grants - done,
        history: before.history + done,
        audited: before.audited + done,
      });
      after.child.kill('SIGTERM');
      await after.exited;
    } finally {
      await folder.remove();
    }
  });
});
