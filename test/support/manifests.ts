import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

/** Kustomize is part of kubectl. */
export const KUBECTL = spawnSync('kubectl', ['kustomize', '--help']).status === 0;
export const HELM = spawnSync('helm', ['version']).status === 0;

if (!KUBECTL) skips('of the Kustomize overlays', 'kubectl');
if (!HELM) skips('of the Helm chart', 'helm');

function skips(what: string, program: string): void {
  process.stderr.write(`skipped: tests ${what}, because ${program} is not in the PATH\n`);
}

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

export type Manifest = z.infer<typeof manifest>;

export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((value) => value !== null)
    .map((value) => manifest.parse(value));
}

export function kustomized(folder: string): Manifest[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return manifestsIn(stdout);
}

const container = z.looseObject({
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
  readinessProbe: z.object({
    httpGet: z.object({ path: z.string(), port: z.string() }),
    periodSeconds: z.number(),
    failureThreshold: z.number(),
    timeoutSeconds: z.number(),
  }),
  livenessProbe: z.object({ httpGet: z.object({ path: z.string() }) }).loose(),
  startupProbe: z
    .object({
      httpGet: z.object({ path: z.string() }),
      periodSeconds: z.number(),
      failureThreshold: z.number(),
    })
    .loose(),
  securityContext: z.unknown(),
  resources: z.unknown(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const deployment = z.looseObject({
  spec: z.looseObject({
    replicas: z.number().optional(),
    strategy: z.looseObject({ type: z.string() }),
    template: z.looseObject({
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number(),
        automountServiceAccountToken: z.boolean(),
        securityContext: z.unknown(),
        containers: z.tuple([container]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

export type DeploymentSpec = z.infer<typeof deployment>['spec'];

export function deploymentOf(manifests: readonly Manifest[]): DeploymentSpec {
  return deployment.parse(manifests.find(({ kind }) => kind === 'Deployment')).spec;
}

/** The settings that the manifest gives as they are, without secrets. */
export function settingsOf({ template }: DeploymentSpec): Record<string, string> {
  const [{ env }] = template.spec.containers;
  return Object.fromEntries(
    env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
  );
}
