import { ListServers, RecordHealth } from '@app/registry';
import { FakeClock, settle } from '../../../../test/support/fake-clock.js';
import { CheckServersHandler } from './check-servers.command.js';
import { ProbeHistory } from '../history/probe-history.js';
import type { ProbeOutcome } from './health-verdict.js';

const server = (name: string, status = 'CONNECTED') => ({
  id: name,
  name,
  status,
  healthCheckUrl: null,
  consecutiveFailures: 0,
  lastError: null,
});

describe(CheckServersHandler.name, () => {
  const servers = [server('one'), server('two', 'DEGRADED'), server('down', 'ERROR')];
  /** Checks in progress by server; the test ends each one. */
  let running: Map<string, (outcome: ProbeOutcome) => void>;
  let probed: string[];
  let recorded: string[];
  let checks: CheckServersHandler;

  beforeEach(() => {
    [running, probed, recorded] = [new Map(), [], []];
    const sessions = new Map(servers.map(({ id }) => [id, {}]));
    checks = new CheckServersHandler(
      { leads: true, get: (id: string) => sessions.get(id) } as never,
      {
        probe: ({ name }: { name: string }) => {
          probed.push(name);
          return new Promise((resolve) => running.set(name, resolve));
        },
      } as never,
      { observe: () => undefined } as never,
      new ProbeHistory(),
      {
        execute: (command: unknown) => {
          if (command instanceof RecordHealth) recorded.push(command.serverId);
          return Promise.resolve();
        },
      } as never,
      {
        execute: (query: unknown) => Promise.resolve(query instanceof ListServers ? servers : []),
      } as never,
      { tell: () => Promise.resolve() } as never,
      new FakeClock(),
    );
  });

  const healthy = (name: string) => running.get(name)?.({ kind: 'healthy', responseTimeMs: 1 });

  it('checks all serving servers at the same time', async () => {
    const round = checks.execute();
    await settle();
    expect(probed).toEqual(['one', 'two']);
    healthy('two');
    await settle();
    expect(recorded).toEqual(['two']);
    healthy('one');
    await round;
    expect(recorded).toEqual(['two', 'one']);
  });

  it('starts no check of a server while its previous check runs', async () => {
    const first = checks.execute();
    await settle();
    healthy('one');
    await settle();
    const second = checks.execute();
    await settle();
    expect(probed).toEqual(['one', 'two', 'one']);
    healthy('one');
    healthy('two');
    await Promise.all([first, second]);
    expect(recorded).toEqual(['one', 'one', 'two']);
  });
});
