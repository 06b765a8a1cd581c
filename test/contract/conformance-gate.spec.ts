import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

interface Result {
  readonly passed: number;
  readonly failed: number;
}
type Results = ReadonlyMap<string, Result>;
interface Table {
  readonly revision: string;
  readonly required: readonly string[];
  readonly direct: Results;
  readonly through: Readonly<Record<'server' | 'all' | 'search', Results>>;
  readonly client: { readonly required: readonly string[]; readonly results: Results };
  readonly issuer: {
    readonly required: readonly string[];
    readonly results: ReadonlyMap<string, Results>;
  };
}
interface Gate {
  problemsOf(tables: readonly Table[], recorded: ReadonlyMap<string, Results>): string[];
  recordedClients(text: string): Map<string, Results>;
}

const of = (...rows: [name: string, passed: number, failed: number][]): Results =>
  new Map(rows.map(([name, passed, failed]) => [name, { passed, failed }]));

const good = of(['ping', 2, 0], ['tools-call-error', 3, 0]);
const table: Table = {
  revision: 'r',
  required: ['ping', 'tools-call-error'],
  direct: good,
  through: { server: good, all: good, search: of(['ping', 2, 0]) },
  client: { required: ['auth/a'], results: of(['auth/a', 4, 0], ['auth/b', 9, 2]) },
  issuer: { required: ['grant'], results: new Map([['/mcp', of(['grant', 1, 0])]]) },
};
const recorded = new Map([['r', of(['auth/a', 4, 0], ['auth/b', 9, 2])]]);

describe('the gate of the conformance suite', () => {
  let gate: Gate;
  beforeAll(async () => {
    const url = pathToFileURL(join(process.cwd(), 'conformance/gate.mjs')).href;
    gate = (await import(url)) as Gate;
  });
  const problems = (changes: Partial<Table>): string[] =>
    gate.problemsOf([{ ...table, ...changes }], recorded);
  const through = (endpoint: 'server' | 'all' | 'search', results: Results): string[] =>
    problems({ through: { ...table.through, [endpoint]: results } });
  const client = (results: Results): string[] => problems({ client: { ...table.client, results } });

  it('passes when the results equal the direct and the recorded ones', () => {
    expect(problems({})).toEqual([]);
  });

  it.each(['server', 'all'] as const)('compares the numbers of checks at %s', (endpoint) => {
    const fewer = of(['ping', 1, 0], ['tools-call-error', 3, 0]);
    expect(through(endpoint, fewer)).toEqual([expect.stringContaining('ping is holds (1/1)')]);
    const failing = of(['ping', 2, 1], ['tools-call-error', 3, 0]);
    expect(through(endpoint, failing)).toHaveLength(1);
    expect(through(endpoint, of(['ping', 2, 0]))).toEqual([expect.stringContaining('not run')]);
  });

  it.each([of(['grant', 1, 1]), of(['grant', 0, 0]), of()])(
    'fails when a scenario of the authorization server does not hold or is not run',
    (results) => {
      const issuer = { ...table.issuer, results: new Map([['/mcp', results]]) };
      expect(problems({ issuer })).toEqual([
        expect.stringContaining('the authorization server, /mcp: grant is'),
      ]);
    },
  );

  it('compares at /mcp/search what applies there', () => {
    expect(through('search', of(['ping', 0, 2]))).toEqual([expect.stringContaining('ping')]);
  });

  it.each([
    ['none at all', of()],
    ['none of a required scenario', of(['auth/b', 9, 2])],
    ['no checks of it', of(['auth/a', 0, 0], ['auth/b', 9, 2])],
    ['a failed check of it', of(['auth/a', 3, 1], ['auth/b', 9, 2])],
    ['fewer checks of a reported one than recorded', of(['auth/a', 4, 0], ['auth/b', 8, 2])],
  ])('refuses a client with results of %s', (_, results) => {
    expect(client(results)).not.toEqual([]);
  });

  it('refuses a suite that runs nothing, and a fixture that fails by itself', () => {
    expect(problems({ required: [], direct: of() })).toHaveLength(2);
    expect(problems({ direct: of(['ping', 0, 2], ['tools-call-error', 3, 0]) })).not.toEqual([]);
  });

  it('reads the recorded results of clients', () => {
    const text = `## r, x\n\n| ping | required | holds (2/2) | holds (2/2) |\n
### The service as the client, r\n\n| scenario | | |\n|---|---|---|
| auth/a | required | holds (4/4) |\n| auth/b | reported | **fails** (9/11) |\n\n## s, y\n`;
    expect(gate.recordedClients(text)).toEqual(recorded);
  });
});
