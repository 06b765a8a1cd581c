import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { envSchema } from '../../libs/platform/src/config/env.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import {
  deploymentOf,
  type DeploymentSpec,
  KUBECTL,
  kustomized,
  type Manifest,
  settingsOf,
} from '../support/manifests.js';
import { schemaProblems } from '../support/manifest-schemas.js';
import { createDatabase } from '../support/postgres.js';
import { listenStream } from '../support/client-streams.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { rawClient } from '../support/raw-client.js';
import { Balancer } from '../support/balancer.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const FOLDER = 'deploy/kustomize';
const OVERLAYS = ['base', ...readdirSync(`${FOLDER}/overlays`).map((name) => `overlays/${name}`)];
const TOKEN = 'a-token-of-this-test-only';
const SERVERS = ['local', 'remote'] as const;
/** Of a pod between the end of its grace and SIGKILL. */
const EXIT_SECONDS = 5;

const describeRendered = KUBECTL ? describe : describe.skip;

describeRendered.each(OVERLAYS)('the manifests of %s', (overlay) => {
  let manifests: Manifest[];
  let spec: DeploymentSpec;
  beforeAll(() => {
    manifests = kustomized(`${FOLDER}/${overlay}`);
    spec = deploymentOf(manifests);
  });

  it('agree with the schemas of Kubernetes', async () => {
    expect(await schemaProblems(manifests)).toEqual([]);
  });

  it('have settings that the service knows', () => {
    const [{ env }] = spec.template.spec.containers;
    expect(env.map(({ name }) => name).filter((name) => !(name in envSchema.shape))).toEqual([]);
  });

  it('run without privileges on a read-only root', () => {
    const pod = spec.template.spec;
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: expect.any(Number),
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const [{ securityContext, volumeMounts }] = pod.containers;
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/data', '/tmp']);
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  it('leave the service the time that it takes to end', () => {
    const settings = settingsOf(spec);
    const { readinessProbe } = spec.template.spec.containers[0];
    const delay = Number(settings['MCP_AGGREGATOR_SHUTDOWN_DELAY']);
    const grace = Number(settings['MCP_AGGREGATOR_SHUTDOWN_GRACE']);
    expect(delay + grace + EXIT_SECONDS).toBeLessThan(
      spec.template.spec.terminationGracePeriodSeconds,
    );
    // A balancer that polls readiness as often as the probe has noticed by then.
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeLessThan(delay);
  });

  it('have one process for a data folder, and several only with a database', () => {
    const [{ env }] = spec.template.spec.containers;
    const hasDatabase = env.some(({ name }) => name === 'DATABASE_URL');
    const kinds = manifests.map(({ kind }) => kind);
    expect(spec.replicas === 1).toBe(!hasDatabase);
    expect(spec.strategy.type).toBe(hasDatabase ? 'RollingUpdate' : 'Recreate');
    expect(kinds.includes('PersistentVolumeClaim')).toBe(!hasDatabase);
    expect(kinds.includes('PodDisruptionBudget')).toBe(hasDatabase);
  });
});

describeRendered('the monitored overlay', () => {
  it('has the alerts of deploy/prometheus and the dashboard', () => {
    const manifests = kustomized(`${FOLDER}/overlays/monitored`);
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule');
    const files = ['service.rules.yaml', 'switchboard.rules.yaml'];
    const groups = files.flatMap((name): unknown => {
      const read = parse(readFileSync(`deploy/prometheus/${name}`, 'utf8')) as {
        groups: unknown[];
      };
      return read.groups;
    });
    expect(rule?.['spec']).toEqual({ groups });
    const dashboard = manifests.find(({ kind }) => kind === 'ConfigMap');
    expect(dashboard?.['data']).toEqual({
      'switchboard.json': readFileSync('deploy/grafana/switchboard.json', 'utf8'),
    });
  });
});

/** Plays what the kubelet and the endpoints of a Service do, with processes for pods. */
describeRendered('a rolling update of the cluster', () => {
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
  const running = new Set<ServiceProcess>();
  const balancer = new Balancer();
  const answered: Record<string, number> = {};
  let remote: HttpPeer;
  let isOver = false;

  beforeAll(async () => {
    remote = await httpPeer('whose.mjs', ['http']);
  });
  afterAll(async () => {
    isOver = true;
    balancer.close();
    for (const { child, exited } of running) {
      child.kill('SIGKILL');
      await exited;
    }
    await remote.stop();
    await Promise.all(folders.map((folder) => folder.remove()));
  });

  it('loses no call', async () => {
    const spec = deploymentOf(kustomized(`${FOLDER}/overlays/cluster`));
    expect(spec.strategy['rollingUpdate']).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const database = await createDatabase();
    const url = await balancer.listen();
    const pods: ServiceProcess[] = [];
    for (let i = 0; i < (spec.replicas ?? 0); i++) pods.push(await startPod(spec, database));
    await registerServers(url);
    const users = [
      ...SERVERS.flatMap((server) => [
        use(`REST to ${server}`, (mark) => callOverRest(url, server, mark)),
        use(`modern to ${server}`, modernCalls(url, server)),
        use(`legacy to ${server}`, legacyCalls(url, server)),
      ]),
      use('lists', () => listServers(url)),
      use('streams', () => listenToOne(url)),
    ];
    const names = Object.keys(answered);
    expect(names).toHaveLength(8);
    for (const pod of pods) {
      await startPod(spec, database);
      await terminate(pod, spec);
      const before = { ...answered };
      await eventually(() => {
        const calls = names.filter((name) => name !== 'streams');
        for (const name of calls) expect(answered[name]).toBeGreaterThan((before[name] ?? 0) + 5);
      });
    }
    expect(answered['streams']).toBeGreaterThan(0);
    isOver = true;
    balancer.endStreams();
    await Promise.all(users);
    expect(balancer.failures).toEqual([]);
  });

  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

  async function registerServers(url: string): Promise<void> {
    const configs = {
      local: {
        transport_type: 'STDIO',
        connection_config: { command: process.execPath, args: [fixture('whose.mjs')] },
      },
      remote: {
        transport_type: 'HTTP',
        connection_config: { base_url: remote.url, headers: { 'x-api-key': 'k' } },
      },
    };
    for (const name of SERVERS) {
      const body = JSON.stringify({ name, ...configs[name] });
      const to = `${url}/api/v1/aggregator/servers`;
      const { status } = await fetch(to, { method: 'POST', headers, body });
      expect(status).toBe(201);
    }
    for (const { url: pod } of running) {
      await eventually(async () => {
        const listed = await fetch(`${pod}/api/v1/aggregator/tools?limit=100`, { headers });
        const text = await listed.text();
        for (const name of SERVERS) expect(text).toContain(`${name}.whose`);
      });
    }
  }

  /** One request after the other until the update is over; each has to be answered with its own mark. */
  async function use(name: string, ask: (mark: string) => Promise<string>): Promise<void> {
    answered[name] = 0;
    for (let i = 0; !isOver; i++) {
      const mark = `${name} ${i}`;
      const text = await ask(mark);
      expect([mark, text]).toEqual([mark, expect.stringContaining(mark)]);
      answered[name] += 1;
    }
  }

  async function callOverRest(url: string, server: string, mark: string): Promise<string> {
    const body = JSON.stringify({ name: `${server}.whose`, arguments: { echo: mark } });
    const answer = await fetch(`${url}/api/v1/tools/call`, { method: 'POST', headers, body });
    return `${answer.status} ${await answer.text()}`;
  }

  function modernCalls(url: string, server: string): (mark: string) => Promise<string> {
    const client = rawClient('modern', `${url}/mcp`, TOKEN);
    return async (mark) =>
      JSON.stringify(await (await client).call(`${server}__whose`, { echo: mark }));
  }

  /** A session ends with the pod that it is at; its client begins another, as the specification says. */
  function legacyCalls(url: string, server: string): (mark: string) => Promise<string> {
    let client = rawClient('legacy', `${url}/mcp`, TOKEN);
    return async (mark) => {
      const call = async () =>
        JSON.stringify(await (await client).call(`${server}__whose`, { echo: mark }));
      const text = await call();
      if (!text.includes('Session not found')) return text;
      client = rawClient('legacy', `${url}/mcp`, TOKEN);
      return call();
    };
  }

  async function listServers(url: string): Promise<string> {
    const answer = await fetch(`${url}/api/v1/aggregator/servers`, { headers });
    const text = await answer.text();
    return answer.status === 200 && text.includes('local') ? `lists ${answered['lists']}` : text;
  }

  /** Until its pod ends; the client opens the next one. */
  async function listenToOne(url: string): Promise<string> {
    const stream = await listenStream({ url, token: TOKEN });
    await stream.text().catch((error: unknown) => {
      if (!isOver) throw error;
    });
    return `streams ${answered['streams']}`;
  }

  /** Ready by its readiness probe, as a pod before the next one is stopped. */
  async function startPod(spec: DeploymentSpec, database: string): Promise<ServiceProcess> {
    const folder = await temporaryFolder();
    folders.push(folder);
    const pod = await startProcess(folder.path, {
      ...settingsOf(spec),
      DATABASE_URL: database,
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_TOKENS: `me:admin:${TOKEN}`,
      // Those of a pod; here all are on one machine, without Qdrant.
      MCP_AGGREGATOR_HOST: '127.0.0.1',
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: folder.path,
      QDRANT_URL: '',
    });
    running.add(pod);
    const { startupProbe, livenessProbe, readinessProbe } = spec.template.spec.containers[0];
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      await eventually(async () => {
        expect((await fetch(pod.url + httpGet.path)).status).toBe(200);
      });
    }
    balancer.add(pod.url);
    await eventually(() => expect(balancer.isReady(pod.url)).toBe(true));
    return pod;
  }

  /** SIGTERM, and SIGKILL at the end of the grace period, which must not be needed. */
  async function terminate(pod: ServiceProcess, spec: DeploymentSpec): Promise<void> {
    pod.child.kill('SIGTERM');
    const killed = new AbortController();
    const kill = sleep(spec.template.spec.terminationGracePeriodSeconds * 1_000, undefined, {
      signal: killed.signal,
    }).then(
      () => 'was killed',
      () => undefined,
    );
    expect(await Promise.race([pod.exited, kill])).toBe(0);
    killed.abort();
    running.delete(pod);
    balancer.remove(pod.url);
  }
});
