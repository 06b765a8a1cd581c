import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';
import type { Manifest } from './manifests.js';

/** Packages with a model and a type for each kind, made from the OpenAPI documents of Kubernetes and of its extensions. */
const OPERATOR = 'monitoring.coreos.com/v1';
const packageOf = (apiVersion: string): string =>
  apiVersion === OPERATOR ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';

interface Model {
  validate(): void;
}
const model = z.custom<new (value: unknown) => Model>((value) => typeof value === 'function');

/** What the schemas of Kubernetes and of the Prometheus operator say against the manifests. */
export async function schemaProblems(manifests: readonly Manifest[]): Promise<string[]> {
  const problems = unknownFields(manifests);
  for (const one of manifests) {
    const models: unknown = await import(`${packageOf(one.apiVersion)}/${one.apiVersion}`);
    const Kind = z.looseObject({ [one.kind]: model }).parse(models)[one.kind];
    try {
      if (Kind) new Kind(one).validate();
    } catch (error) {
      problems.push(`${one.kind} ${one.metadata.name}: ${String(error)}`);
    }
  }
  return problems;
}

/**
 * The models accept fields that no schema has, which Kubernetes drops in silence. The compiler refuses them: each
 * manifest is an object literal of the type of its kind.
 */
function unknownFields(manifests: readonly Manifest[]): string[] {
  const text = manifests
    .map((one, i) => {
      const module = `${packageOf(one.apiVersion)}/${one.apiVersion}/${one.kind}`;
      return [
        `import type { I${one.kind} as Kind${i} } from '${module}';`,
        `export const manifest${i}: Kind${i} = ${JSON.stringify(one)};`,
      ];
    })
    .flat()
    .join('\n');
  const program = ts.createProgram({
    rootNames: [FILE],
    options: OPTIONS,
    host: hostWith(text),
  });
  const file = program.getSourceFile(FILE);
  return ts.getPreEmitDiagnostics(program, file).map(({ messageText, start = 0 }) => {
    const line = text.slice(0, start).split('\n').length;
    const one = manifests[Math.floor((line - 1) / 2)];
    const said = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${one?.kind} ${one?.metadata.name}: ${said}`;
  });
}

/** Does not exist; it is in this folder so that packages are found. */
const FILE = join(process.cwd(), 'test/support/manifests.generated.ts');
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  lib: ['lib.es2022.d.ts'],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};
const base = ts.createCompilerHost(OPTIONS);
const parsed = new Map<string, ts.SourceFile | undefined>();

function hostWith(text: string): ts.CompilerHost {
  return {
    ...base,
    fileExists: (name) => name === FILE || base.fileExists(name),
    readFile: (name) => (name === FILE ? text : base.readFile(name)),
    getSourceFile: (name, version) => {
      if (name === FILE) return ts.createSourceFile(name, text, version);
      if (!parsed.has(name)) parsed.set(name, base.getSourceFile(name, version));
      return parsed.get(name);
    },
  };
}
