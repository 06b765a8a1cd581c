import { Leadership, Peers } from '@app/platform';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type Fault, FaultProxy } from '../support/fault-proxy.js';
import { send } from '../support/http.js';
import { nodesWith } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const LEDGER = join(process.cwd(), 'test/cluster/ledger.mjs');
const FAULTS: Record<string, Fault> = {
  refuses: { refuse: true },
  swallows: { blackhole: true },
};

interface Told {
  readonly key: string;
  readonly status: number;
  /** Of the STDIO server: it is new with every process. */
  readonly process: string | undefined;
  readonly outcome: string | undefined;
}

/** A STDIO server that writes down what it executes, and its users. */
class Ledger {
  readonly mark: string;
  private made = 0;

  constructor(
    private readonly file: string,
    name: string,
  ) {
    this.mark = `SWITCHBOARD_TEST_MARK=${name}-${process.pid}-${Date.now()}`;
    writeFileSync(file, '');
  }

  async register(at: { url: string; token: string }): Promise<string> {
    const [name = '', value = ''] = this.mark.split('=');
    return new Api(at).register({
      name: 'ledger',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [LEDGER, 'stdio', this.file],
        env: { [name]: value },
      },
    });
  }

  async call(at: { url: string; token: string }): Promise<Told> {
    const key = `key-${(this.made += 1)}`;
    const answer = await send(at.url, '/api/v1/tools/call', {
      method: 'POST',
      token: at.token,
      body: JSON.stringify({ name: 'ledger.add', arguments: { key } }),
    });
    const { content, context } = answer.body as {
      content?: [{ text: string }];
      context?: { outcome?: string };
    };
    const said = content && (JSON.parse(content[0].text) as { process: string });
    return { key, status: answer.status, process: said?.process, outcome: context?.outcome };
  }

  /** Calls one after the other until told to stop. */
  calling(at: { url: string; token: string }, into: Told[]): () => Promise<void> {
    let isOver = false;
    const run = async (): Promise<void> => {
      while (!isOver) into.push(await this.call(at));
    };
    const running = run();
    return () => {
      isOver = true;
      return running;
    };
  }

  get executed(): string[] {
    return readFileSync(this.file, 'utf8').split('\n').filter(Boolean);
  }
}

/** What was told about each call is what became of it. */
function expectHonest(told: readonly Told[], executed: readonly string[]): void {
  expect(new Set(executed).size).toBe(executed.length);
  for (const { key, status, outcome } of told) {
    if (status === 200) expect(executed).toContain(key);
    else expect(['not executed', 'unknown']).toContain(outcome);
    if (outcome === 'not executed') expect(executed).not.toContain(key);
  }
}

describe('a leader that is cut off from the database', () => {
  const closing: (() => Promise<unknown>)[] = [];
  const cuts = new Map<TestApp, FaultProxy>();
  let replicas: TestApp[];
  let ledger: Ledger;

  beforeAll(async () => {
    const folder = await temporaryFolder();
    closing.push(() => folder.remove());
    const url = await createDatabase();
    replicas = [];
    for (let i = 0; i < 3; i++) {
      const proxy = await FaultProxy.before(url);
      const replica = await startApp({ DATABASE_URL: proxy.urlOf(url) });
      cuts.set(replica, proxy);
      replicas.push(replica);
      closing.unshift(async () => {
        await replica.close();
        await proxy.close();
      });
    }
    ledger = new Ledger(join(folder.path, 'ledger'), 'replica-fence');
    const [first] = replicas;
    if (!first) throw new Error('no replica');
    await ledger.register(first);
    for (const replica of replicas) {
      await eventually(async () =>
        expect(await ledger.call(replica)).toMatchObject({ status: 200 }),
      );
    }
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const leads = (one: TestApp): boolean => one.app.get(Leadership).leads;
  const only = (found: TestApp[]): TestApp => {
    const [one] = found;
    if (!one || found.length > 1) throw new Error(`${found.length} replicas lead`);
    return one;
  };

  it.each(Object.keys(FAULTS))(
    'answers no call by its STDIO server once another replica runs it, when the network %s',
    async (how) => {
      const former = await eventually(() => only(replicas.filter(leads)));
      const others = replicas.filter((one) => one !== former);
      // One that knows of no other keeps its servers, and it looks every two seconds.
      await eventually(() => expect(former.app.get(Peers).hasOthers).toBe(true));
      const { process: formerProcess } = await ledger.call(former);
      const told: Told[] = [];
      const stops = replicas.map((replica) => ledger.calling(replica, told));
      const proxy = cuts.get(former);
      if (!proxy) throw new Error('no proxy');
      proxy.fault = FAULTS[how] ?? {};
      if (proxy.fault.refuse) proxy.breakAll();

      await eventually(() => only(others.filter(leads)));
      await eventually(() => {
        expect(told.some((one) => one.process && one.process !== formerProcess)).toBe(true);
      });
      const answered = told.length;
      await eventually(() => expect(told.length).toBeGreaterThan(answered + 20));
      const ready = async (): Promise<number> => (await send(former.url, '/health/ready')).status;
      // It gets no new clients, and those that it has are served by the next leader.
      await eventually(async () => expect(await ready()).toBe(503));
      await eventually(async () => {
        const { status, process } = await ledger.call(former);
        expect([status, process === formerProcess]).toEqual([200, false]);
      });
      proxy.fault = {};
      proxy.breakAll();
      await eventually(async () => expect(await ready()).toBe(200));
      await eventually(async () => {
        const { status, process } = await ledger.call(former);
        expect(status).toBe(200);
        expect(process).not.toBe(formerProcess);
      });
      for (const stop of stops) await stop();

      const processes = told.flatMap((one) => one.process ?? []);
      const firstOfNext = processes.findIndex((one) => one !== formerProcess);
      expect(processes.slice(firstOfNext)).not.toContain(formerProcess);
      expectHonest(told, ledger.executed);
      await eventually(() => expect(nodesWith(ledger.mark)).toHaveLength(1));
    },
  );
});

describe('a leader that stood still', () => {
  let folders: Awaited<ReturnType<typeof temporaryFolder>>[];
  let former: ServiceProcess;
  let next: ServiceProcess;
  let ledger: Ledger;

  beforeAll(async () => {
    folders = [await temporaryFolder(), await temporaryFolder()];
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_TOKENS: 'test:admin:a-token-for-this-test-only',
      MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
    };
    former = await startProcess(folders[0]?.path ?? '', settings);
    next = await startProcess(folders[1]?.path ?? '', settings);
    ledger = new Ledger(join(folders[0]?.path ?? '', 'ledger'), 'replica-frozen');
    await ledger.register(former);
    for (const replica of [former, next]) {
      await eventually(async () =>
        expect(await ledger.call(replica)).toMatchObject({ status: 200 }),
      );
    }
  }, 180_000);
  afterAll(async () => {
    for (const { child, exited } of [former, next]) {
      child.kill('SIGKILL');
      await exited;
    }
    for (const folder of folders) await folder.remove();
  });

  it('answers no call by the process of its own time as the leader, and ends it', async () => {
    const { process: formerProcess } = await ledger.call(former);
    former.child.kill('SIGSTOP');
    await eventually(async () => {
      const { status, process } = await ledger.call(next);
      expect([status, process === formerProcess]).toEqual([200, false]);
    });
    // Accepted by its kernel, they are the first that it reads.
    const waiting = Array.from({ length: 20 }, () => ledger.call(former));
    former.child.kill('SIGCONT');
    const told = await Promise.all(waiting);
    expect(told.map(({ process }) => process)).not.toContain(formerProcess);
    expectHonest(told, ledger.executed);
    await eventually(async () => {
      expect(nodesWith(ledger.mark)).toHaveLength(1);
      const { process } = await ledger.call(former);
      expect([undefined, formerProcess]).not.toContain(process);
    });
  });
});
