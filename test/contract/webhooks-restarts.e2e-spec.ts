import { send } from '../support/http.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { createDatabase } from '../support/postgres.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';
import { type Received, startWebhookReceiver } from '../support/webhook-receiver.js';

/** `WEBHOOK_EVENTS=10000` is the whole of it. */
const EVENTS = Number(process.env['WEBHOOK_EVENTS'] ?? 160);
const SERVERS = 8;
const AT_ONCE = 4;
const RESTARTS = 3;
const TOKEN = 'a-token-for-the-webhooks-test';

/** Changes of servers that were answered, by server. */
type Answered = Map<string, number>;

describe('webhooks of a service that is killed again and again', () => {
  it(
    'reach a receiver that fails half of the time at least once each, in order per server, and none after removal',
    async () => {
      const [folder, receiver] = await Promise.all([temporaryFolder(), startWebhookReceiver()]);
      const settings = {
        DATABASE_URL: await createDatabase(),
        MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
        MCP_AGGREGATOR_TOKENS: `admin:admin:${TOKEN}`,
        MCP_AGGREGATOR_RATE_LIMIT: '0',
      };
      let service: ServiceProcess = await startProcess(folder.path, settings);
      const call = async (method: string, path: string, body?: object) => {
        const text = body && JSON.stringify(body);
        return send(service.url, `/api/v1/aggregator${path}`, {
          method,
          token: TOKEN,
          ...(text !== undefined && { body: text }),
        });
      };
      const create = async (path: string): Promise<string> => {
        const given = { url: receiver.urlOf(path), topics: ['server'] };
        const { body } = await call('POST', '/webhooks', given);
        const { id, secret } = body as { id: string; secret: string };
        receiver.setSecret(path, secret);
        return id;
      };
      const servers: string[] = [];
      for (let n = 0; n < SERVERS; n++) {
        const { body } = await call('POST', '/servers', {
          name: `server-${n}`,
          transport_type: 'HTTP',
          connection_config: { base_url: 'http://127.0.0.1:9/mcp' },
          auto_connect: false,
        });
        servers.push((body as { id: string }).id);
      }
      const webhook = await create('/hook');
      receiver.failWhen((request) => request % 2 === 0);

      const answered: Answered = new Map();
      for (let part = 0; part <= RESTARTS; part++) {
        let left = Math.ceil(EVENTS / (RESTARTS + 1));
        const change = async (): Promise<void> => {
          while (left > 0) {
            const n = left--;
            const id = servers[n % SERVERS] ?? '';
            const { status } = await call('PATCH', `/servers/${id}`, {
              description: `${part} ${n}`,
            });
            expect(status).toBe(200);
            answered.set(id, (answered.get(id) ?? 0) + 1);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, change));
        if (part === RESTARTS) break;
        service.child.kill('SIGKILL');
        await service.exited;
        service = await startProcess(folder.path, settings);
      }
      await eventuallyTaken(receiver.of.bind(receiver), answered);

      const taken = receiver.of('/hook');
      expect(taken.every(({ isSigned }) => isSigned)).toBe(true);
      for (const id of servers)
        expectOrder(taken.filter(({ event }) => event.data['server_id'] === id));

      receiver.failWhen(() => false);
      expect((await call('DELETE', `/webhooks/${webhook}`)).status).toBe(204);
      const before = receiver.of('/hook').length;
      await create('/witness');
      for (const id of servers) await call('PATCH', `/servers/${id}`, { description: 'removed' });
      await eventually(() => expect(updates(receiver.of('/witness'))).toHaveLength(SERVERS));
      expect(receiver.of('/hook')).toHaveLength(before);

      service.child.kill('SIGTERM');
      await service.exited;
      await receiver.close();
      await folder.remove();
    },
    // Of the whole.
    3_600_000,
  );
});

/** Also when that takes longer than one `eventually`: as long as events are taken. */
async function eventuallyTaken(
  of: (path: string) => readonly Received[],
  answered: Answered,
): Promise<void> {
  const distinct = (): number => new Set(updates(of('/hook')).map(({ event }) => event.id)).size;
  const wanted = [...answered.values()].reduce((sum, calls) => sum + calls, 0);
  for (let seen = -1; distinct() < wanted;) {
    expect(distinct()).toBeGreaterThan(seen);
    seen = distinct();
    await eventually(() => expect(distinct()).toBeGreaterThan(Math.min(seen, wanted - 1)));
  }
  for (const [server, calls] of answered) {
    const own = updates(of('/hook')).filter(({ event }) => event.data['server_id'] === server);
    expect(new Set(own.map(({ event }) => event.id)).size).toBe(calls);
  }
}

function updates(received: readonly Received[]): readonly Received[] {
  return received.filter(({ event }) => event.data['change'] === 'updated');
}

/** What was taken for the first time; the ids count the events of one process, the processes do not come back. */
function expectOrder(received: readonly Received[]): void {
  const ids = [...new Set(received.map(({ event }) => event.id))];
  const processes = ids.map((id) => id.split('-')[0] ?? '');
  const changes = processes.filter((process, at) => process !== processes[at - 1]);
  expect(new Set(changes).size).toBe(changes.length);
  for (const process of new Set(processes)) {
    const numbers = ids
      .filter((id) => id.startsWith(process))
      .map((id) => Number(id.split('-')[1]));
    expect(numbers).toEqual(numbers.toSorted((one, next) => one - next));
  }
}
