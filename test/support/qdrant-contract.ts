import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** A request to Qdrant's REST API, and its answer. */
export interface QdrantExchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: unknown;
  readonly answer: unknown;
}

/** The types that Qdrant's own client is made with, generated from the OpenAPI document of this version of Qdrant. */
const SCHEMA = join(
  dirname(createRequire(import.meta.url).resolve('@qdrant/js-client-rest')),
  '../types/openapi/generated_schema.js',
);

const HEAD = `
import type { paths } from ${JSON.stringify(SCHEMA)};
type Json<T> = T extends { content: { 'application/json': infer B } } ? B : never;
type Body<O> = O extends { requestBody?: infer B } ? Json<NonNullable<B>> : never;
type Query<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type Answer<O> = O extends { responses: { 200: infer A } } ? Json<A> : never;
`;

/**
 * What Qdrant's OpenAPI document does not describe in these exchanges, one line each; fields that it does not know, too.
 * The TypeScript compiler compares them as literals.
 */
export function qdrantProblems(exchanges: readonly QdrantExchange[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-qdrant-'));
  const file = join(folder, 'exchanges.ts');
  try {
    writeFileSync(file, HEAD + exchanges.map(checks).join('\n'));
    const program = ts.createProgram([file], {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: [],
    });
    return ts.getPreEmitDiagnostics(program).map((problem) => {
      const { line } = problem.file?.getLineAndCharacterOfPosition(problem.start ?? 0) ?? {};
      const where = line === undefined ? '' : problem.file?.text.split('\n')[line]?.slice(0, 200);
      return `${where}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checks({ method, path, body, answer }: QdrantExchange, index: number): string {
  const { pathname, searchParams } = new URL(path, 'http://qdrant');
  const template = pathname.replace(/^\/collections\/[^/]+/, '/collections/{collection_name}');
  const operation = `paths[${JSON.stringify(template)}][${JSON.stringify(method.toLowerCase())}]`;
  const query = [...searchParams].map(([name, value]) => `${JSON.stringify(name)}: ${value}`);
  return [
    `type Operation${index} = ${operation};`,
    ...(body === undefined ? [] : [check('body', index, `Body<Operation${index}>`, literal(body))]),
    ...(query.length === 0
      ? []
      : [check('query', index, `Query<Operation${index}>`, `{ ${query.join(', ')} }`)]),
    check('answer', index, `Answer<Operation${index}>`, literal(answer)),
  ].join('\n');
}

function check(what: string, index: number, type: string, value: string): string {
  return `export const ${what}${index}: ${type} = ${value};`;
}

/** The first elements of long lists: the others have the same type. */
function literal(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    Array.isArray(item) ? item.slice(0, 3) : item,
  );
}
