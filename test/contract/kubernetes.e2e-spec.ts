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
  schemaProblems,
  settingsOf,
} from '../support/manifests.js';
import { createDatabase } from '../support/postgres.js';
import { Balancer } from '../support/balancer.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const FOLDER = 'deploy/kustomize';
const OVERLAYS = ['base', ...readdirSync(`${FOLDER}/overlays`).map((name) => `overlays/${name}`)];
const TOKEN = 'a-token-of-this-test-only';
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
  let isOver = false;

  afterAll(async () => {
    isOver = true;
    balancer.close();
    for (const { child, exited } of running) {
      child.kill('SIGKILL');
      await exited;
    }
    await Promise.all(folders.map((folder) => folder.remove()));
  });

  it('loses no call', async () => {
    const spec = deploymentOf(kustomized(`${FOLDER}/overlays/cluster`));
    expect(spec.strategy['rollingUpdate']).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const database = await createDatabase();
    const url = await balancer.listen();
    const pods: ServiceProcess[] = [];
    for (let i = 0; i < (spec.replicas ?? 0); i++) pods.push(await startPod(spec, database));
    const users = Array.from({ length: 8 }, () => use(url));
    for (const pod of pods) {
      await startPod(spec, database);
      await terminate(pod, spec);
      const before = balancer.answered;
      await eventually(() => expect(balancer.answered - before).toBeGreaterThan(50));
    }
    isOver = true;
    await Promise.all(users);
    expect(balancer.failures).toEqual([]);
  });

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

  async function use(url: string): Promise<void> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    while (!isOver) {
      const answer = await fetch(`${url}/api/v1/aggregator/servers`, { headers });
      expect([answer.status, await answer.text()]).toEqual([
        200,
        expect.stringContaining('servers'),
      ]);
    }
  }
});
