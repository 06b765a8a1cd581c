import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { envSchema } from '../../libs/platform/src/config/env.js';
import {
  deploymentOf,
  HELM,
  type Manifest,
  manifestsIn,
  settingsOf,
} from '../support/manifests.js';
import { schemaProblems } from '../support/manifest-schemas.js';

const CHART = 'deploy/helm/switchboard';
const VALUES = readdirSync(`${CHART}/ci`);

function helm(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8' });
  return { status, text: stdout + (status === 0 ? '' : stderr) };
}

function template(...args: string[]): { status: number | null; text: string } {
  return helm('template', 'test', CHART, '--kube-version', '1.30', ...args);
}

/** Where Helm is installed, as in CI. */
const describeHelm = HELM ? describe : describe.skip;

describeHelm('the chart', () => {
  it('is in order for helm lint', () => {
    expect(helm('lint', '--strict', CHART)).toMatchObject({ status: 0 });
  });

  describe.each(VALUES)('with %s', (file) => {
    let manifests: Manifest[];
    beforeAll(() => {
      const { status, text } = template('--values', `${CHART}/ci/${file}`);
      expect([status, text]).toEqual([0, expect.any(String)]);
      manifests = manifestsIn(text);
    });

    it('agrees with the schemas of Kubernetes', async () => {
      expect(await schemaProblems(manifests)).toEqual([]);
    });

    it('has settings that the service knows, and leaves it the time that it takes to end', () => {
      const spec = deploymentOf(manifests);
      const [{ env }] = spec.template.spec.containers;
      expect(env.map(({ name }) => name).filter((name) => !(name in envSchema.shape))).toEqual([]);
      const settings = settingsOf(spec);
      const delay = Number(settings['MCP_AGGREGATOR_SHUTDOWN_DELAY']);
      const grace = Number(settings['MCP_AGGREGATOR_SHUTDOWN_GRACE']);
      expect(delay + grace + 5).toBeLessThan(spec.template.spec.terminationGracePeriodSeconds);
    });
  });

  it.each([
    ['replicaCount=3', 'More than one replica needs PostgreSQL: set database.enabled=true'],
    ['autoscaling.enabled=true', 'More than one replica needs PostgreSQL'],
    ['replicaCount=0', 'replicaCount'],
    ['replicaCont=1', 'replicaCont'],
    ['settings.lower=1', 'lower'],
  ])('refuses %s with a sentence', (value, sentence) => {
    const { status, text } = template('--set', value);
    expect([status, text]).toEqual([1, expect.stringContaining(sentence)]);
  });
});

it('the chart has the alerts, the dashboard and the version of the service', () => {
  const alerts = ['service.rules.yaml', 'switchboard.rules.yaml'].flatMap((name): unknown => {
    const text = readFileSync(`deploy/prometheus/${name}`, 'utf8');
    return (parse(text) as { groups: unknown[] }).groups;
  });
  const read = (name: string): string => readFileSync(`${CHART}/${name}`, 'utf8');
  expect(parse(read('files/alerts.yaml'))).toEqual(alerts);
  expect(read('files/switchboard.json')).toBe(
    readFileSync('deploy/grafana/switchboard.json', 'utf8'),
  );
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
});
