import { schemaProblems } from '../support/manifest-schemas.js';

const deployment = (spec: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'switchboard' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'a', image: 'a', ...spec }] },
    },
  },
});
const monitor = (endpoint: object) => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  metadata: { name: 'switchboard' },
  spec: { selector: { matchLabels: { app: 'a' } }, endpoints: [endpoint] },
});

describe('the check of manifests', () => {
  it('accepts what the schemas have', async () => {
    const manifests = [
      deployment({ env: [{ name: 'A', value: 'b' }], ports: [{ containerPort: 80 }] }),
      monitor({ port: 'http', interval: '30s' }),
    ];
    expect(await schemaProblems(manifests)).toEqual([]);
  });

  it.each([
    ['an unknown field of Kubernetes', deployment({ redinessProbe: {} }), 'redinessProbe'],
    ['a value of another type', deployment({ env: [{ name: 'A', value: 7 }] }), 'string'],
    ['an unknown field of the operator', monitor({ port: 'http', intervall: '3s' }), 'intervall'],
    ['an interval of the operator that it cannot read', monitor({ interval: 'soon' }), 'interval'],
  ])('refuses %s', async (_what, manifest, word) => {
    const [problem] = await schemaProblems([manifest]);
    expect(problem).toContain(word);
  });
});
