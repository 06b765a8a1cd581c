import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const state = {
  isUp: true,
  status: 'CONNECTED',
  tool_count: 1,
  warnings: [] as string[],
  reason: null,
};
const row = {
  server: { name: 'a' },
  direct: { tools: [tool('x')] },
  state,
  isSame: true,
  through: [tool('x')],
};
const found = {
  rows: [row],
  aggregate: [tool('a__x')],
  clients: [{ name: 'sdk', names: ['a__x'] }],
  processes: [],
};
const withRow = (part: object) => ({ ...found, rows: [{ ...row, ...part }] });

describe('the gate of the real servers', () => {
  let problemsOf: (results: object) => string[];
  beforeAll(async () => {
    const url = pathToFileURL(join(process.cwd(), 'test/real/report.mjs')).href;
    ({ problemsOf } = (await import(url)) as { problemsOf: typeof problemsOf });
  });

  it('finds nothing where every rule holds', () => {
    expect(problemsOf(found)).toEqual([]);
  });

  it.each([
    [
      'a server that connects only directly',
      withRow({ state: { ...state, isUp: false, reason: 'it is down' } }),
    ],
    [
      'a server that does not say why',
      withRow({ direct: {}, state: { ...state, isUp: false, reason: '' } }),
    ],
    ['definitions that were changed', withRow({ isSame: false })],
    ['a tool that is missing in silence', { ...found, aggregate: [], clients: [] }],
    ['a schema that clients refuse', { ...found, aggregate: [{ name: 'a__x', inputSchema: {} }] }],
    ['a client that refuses the list', { ...found, clients: [{ name: 'sdk', error: 'no' }] }],
    ['a client that lists less', { ...found, clients: [{ name: 'sdk', names: [] }] }],
    ['a process that is left', { ...found, processes: [7] }],
  ])('reports %s', (_, results) => {
    expect(problemsOf(results)).toHaveLength(1);
  });

  it('accepts a missing tool that a warning names', () => {
    const warnings = ['tool "x" is not published: …'];
    const results = withRow({ state: { ...state, warnings } });
    expect(problemsOf({ ...results, aggregate: [], clients: [] })).toEqual([]);
  });
});
