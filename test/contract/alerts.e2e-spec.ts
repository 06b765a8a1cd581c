import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { missingSeries } from '../support/series.js';

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
/** Of Debian's package `prometheus`. */
const PROMTOOL = spawnSync('promtool', ['--version']).status === 0;
if (!PROMTOOL) {
  process.stderr.write('skipped: promtool on the alerts, because it is not in the PATH\n');
}
const FOLDER = 'deploy/prometheus';
const rulesIn = (file: string): z.infer<typeof rule>[] =>
  z
    .object({ groups: z.array(z.object({ rules: z.array(rule) })) })
    .parse(parse(readFileSync(`${FOLDER}/${file}`, 'utf8')))
    .groups.flatMap((group) => group.rules);
const panel = z.looseObject({ targets: z.array(z.looseObject({ expr: z.string() })).optional() });
const dashboard = z
  .looseObject({ uid: z.literal('switchboard'), panels: z.array(panel) })
  .parse(JSON.parse(readFileSync('deploy/grafana/switchboard.json', 'utf8')));
const rules = rulesIn('switchboard.rules.yaml');
const all = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.rules.yaml'))
  .flatMap(rulesIn);

describe('the alerts in deploy/prometheus', () => {
  let service: TestApp;
  let api: Api;
  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
  });
  afterAll(() => service.close());

  const read = async (): Promise<string> =>
    (await send(service.url, '/metrics', { token: service.tokens.read })).text;
  const register = (name: string, autoConnect: boolean): Promise<string> =>
    api.register({
      name,
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture('hostile.mjs'), 'stdio'] },
      auto_connect: autoConnect,
    });

  it('are the eight thresholds of the contract, each under a name of its own', () => {
    const thresholds = rules.map(({ expr, labels }) => [
      /mcp_aggregator_(\w+?)(?:_bucket)?\b/.exec(expr)?.[1],
      labels.severity,
      /[<>]=? [\d.]+$/.exec(expr)?.[0],
    ]);
    expect(thresholds).toEqual([
      ['servers_total', 'warning', '< 0.8'],
      ['servers_total', 'critical', '< 0.5'],
      ['routing_duration_seconds', 'warning', '> 0.075'],
      ['routing_duration_seconds', 'critical', '> 0.1'],
      ['health_check_consecutive_failures', 'warning', '>= 2'],
      ['health_check_consecutive_failures', 'critical', '>= 3'],
      ['tools_classified', 'warning', '> 0.2'],
      ['tools_classified', 'critical', '> 0.5'],
    ]);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(8);
  });

  (PROMTOOL ? it : it.skip)('are correct for promtool', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.rules.yaml'));
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['check', 'rules', '--lint-fatal', ...files.map((name) => `${FOLDER}/${name}`)],
      { encoding: 'utf8' },
    );
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('rules found')]);
  });

  it('have a name and a runbook of their own', () => {
    for (const { alert, annotations } of all) {
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    }
    expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length);
  });

  it('and the dashboard read only series that the service has', async () => {
    await register('watched', true);
    const text = await eventually(async () => {
      const answer = await read();
      expect(answer).toContain('mcp_aggregator_servers_total{status="connected"} 1');
      return answer;
    });
    expect(all.flatMap(({ expr }) => missingSeries(text, expr))).toEqual([]);
    const drawn = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(drawn.length).toBeGreaterThan(20);
    const missing = drawn.flatMap((expr) => missingSeries(text, expr));
    // Servers have these only after their first call or check.
    for (const name of missing) {
      expect(name).toMatch(/^mcp_aggregator_(?:execution|query|health_check)_duration_seconds/);
      expect(text).toContain(`# TYPE ${/^\w+?_seconds/.exec(name)?.[0] ?? ''} `);
    }
  });

  it('count an unreachable server, but none that was disconnected on request', async () => {
    const connected = async (): Promise<number> => {
      const [ratio] = rules;
      const [part, whole] = [...(ratio?.expr ?? '').matchAll(/sum\((.*?)\)/g)].map(
        ([, name]) => name,
      );
      const lines = (await read()).split('\n');
      const valueOf = (series = ''): number =>
        Number(lines.find((line) => line.startsWith(`${series} `))?.split(' ')[1]);
      return valueOf(part) / valueOf(whole);
    };
    await register('never-wanted', false);
    expect(await connected()).toBe(1);
    const lost = await api.register({
      name: 'lost',
      transport_type: 'HTTP',
      connection_config: { base_url: 'http://127.0.0.1:1/mcp' },
    });
    expect(await connected()).toBe(0.5);
    await api.call('POST', `/servers/${lost}/disconnect`);
    expect(await connected()).toBe(1);
  });
});

it('runs in Docker with the requests, limits and secrets that are documented', () => {
  const text = readFileSync('docker-compose.yml', 'utf8');
  const { services } = z
    .object({ services: z.object({ switchboard: z.looseObject({ deploy: z.unknown() }) }) })
    .parse(parse(text));
  expect(services.switchboard.deploy).toEqual({
    resources: {
      reservations: { cpus: '0.5', memory: '512M' },
      limits: { cpus: '2', memory: '2G' },
    },
  });
  const needed = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
  const explained = [...text.matchAll(/^#   (\w+) /gm)].map(([, name]) => name);
  expect(new Set(explained)).toEqual(new Set([...needed]));
  expect(text).toContain('the four secrets');
  expect(explained).toHaveLength(4);
});
