import type { CatalogueTool } from '@app/catalogue';
import type { JsonObject } from '@app/platform';
import { catalogueTool } from '../../../../test/support/catalogue.js';
import { planFor, type QueryPlan } from './tool-choice.js';
import { DEFAULT_SETTINGS, type ServerQuerySettings } from '../settings/server-query-settings.js';
import { processorMs } from '../../../../test/support/loop-delay.js';

const readOnly = { readOnlyHint: true };
const text = { type: 'string' };

function tool(name: string, properties: JsonObject, other: JsonObject = {}): CatalogueTool {
  const { annotations = readOnly, required = Object.keys(properties) } = other;
  const inputSchema = { type: 'object', properties, required };
  return catalogueTool({
    name: `docs.${name}`,
    originalName: name,
    serverId: 'docs',
    serverName: 'docs',
    inputSchema,
    definition: { name, inputSchema, annotations },
  });
}

const plan = (
  tools: CatalogueTool[],
  settings: Partial<ServerQuerySettings> = {},
  similarity: (tool: CatalogueTool) => number = () => 0,
): QueryPlan =>
  planFor(tools, { ...DEFAULT_SETTINGS, ...settings }, { query: 'why?', similarity, maxCalls: 1 });
const asked = (...args: Parameters<typeof plan>) =>
  plan(...args).calls.map((call) => [call.tool.originalName, call.arguments]);
const refusal = (...args: Parameters<typeof plan>) => plan(...args).refused[0]?.reason;

describe(planFor, () => {
  it('extracts the words of a long query once for all tools', () => {
    const tools = Array.from({ length: 4_000 }, (_, i) => tool(`search_${i}`, { query: text }));
    const query = Array.from({ length: 1_400 }, (_, i) => `word${i}`).join(' ');
    let calls: readonly { readonly byWord: readonly unknown[] }[] = [];
    const spent = processorMs(() => {
      const wish = { query, similarity: () => 0, maxCalls: 3 };
      ({ calls } = planFor(tools, DEFAULT_SETTINGS, wish));
    });
    expect(calls.map(({ byWord }) => byWord.length)).toEqual([3, 3, 3]);
    // For each tool again it is ten times as much and more.
    expect(spent).toBeLessThan(1_500);
  });

  it('asks only tools that are annotated read-only, and none that is annotated destructive', () => {
    expect(refusal([tool('search', { query: text }, { annotations: {} })])).toBe(
      'is not annotated read-only',
    );
    const both = { readOnlyHint: true, destructiveHint: true };
    expect(refusal([tool('search', { query: text }, { annotations: both })])).toBe(
      'is annotated destructive',
    );
  });

  it('passes the query in the parameter named like one', () => {
    for (const name of ['query', 'q', 'search_query', 'searchQuery', 'Question', 'keywords']) {
      expect(asked([tool('get', { [name]: text, other: text }, { required: [name] })])).toEqual([
        ['get', { [name]: 'why?' }],
      ]);
    }
    const optional = { type: 'object', anyOf: [text, { type: 'null' }] };
    expect(asked([tool('get', { query: optional }, { required: [] })])).toHaveLength(1);
  });

  it('passes the query in the only required text of a tool that looks things up', () => {
    expect(asked([tool('search_docs', { about: text })])).toEqual([
      ['search_docs', { about: 'why?' }],
    ]);
    expect(refusal([tool('echo', { message: text })])).toBe('takes no question');
    expect(refusal([tool('find_in_two', { left: text, right: text })])).toBe('takes no question');
  });

  it('passes no query in paths, ids and other special texts', () => {
    for (const name of ['path', 'file_path', 'userId', 'url', 'language']) {
      expect(refusal([tool('search', { [name]: text })])).toBe('takes no question');
    }
    for (const schema of [
      { ...text, enum: ['a', 'b'] },
      { ...text, format: 'uri' },
      { type: 'number' },
    ]) {
      expect(refusal([tool('search', { query: schema })])).toBe('takes no question');
    }
  });

  it('fills in defaults and constants, and refuses tools that need other arguments', () => {
    const schema = {
      query: text,
      mode: { ...text, default: 'fast' },
      kind: { enum: ['page'] },
      unit: { const: 1 },
    };
    expect(asked([tool('search', schema)])).toEqual([
      ['search', { query: 'why?', mode: 'fast', kind: 'page', unit: 1 }],
    ]);
    expect(refusal([tool('search', { query: text, repo: text })])).toBe(
      'needs other arguments too: repo',
    );
  });

  it('chooses the best tool for the query and says why', () => {
    const tools = [tool('search_a', { query: text }), tool('search_b', { query: text })];
    const similarity = ({ originalName }: CatalogueTool) =>
      originalName === 'search_b' ? 0.9 : 0.1;
    expect(asked(tools, {}, similarity)).toEqual([['search_b', { query: 'why?' }]]);
    expect(plan(tools, {}, similarity).calls[0]?.why).toBe(
      'fits with 0.95: takes the question as "query", looks things up, similarity 0.90',
    );
    expect(asked(tools)).toEqual([['search_a', { query: 'why?' }]]);
  });

  it('cuts the query to the maxLength of the parameter', () => {
    expect(asked([tool('search', { query: { ...text, maxLength: 3 } })])).toEqual([
      ['search', { query: 'why' }],
    ]);
  });

  it('prepares retries with single words', () => {
    const question = { query: 'Who likes green tea?', similarity: () => 0, maxCalls: 1 };
    const byWord = (query: string) =>
      planFor([tool('search', { query: text })], DEFAULT_SETTINGS, { ...question, query }).calls[0]
        ?.byWord;
    expect(byWord('Who likes green tea?')).toEqual([
      { query: 'likes' },
      { query: 'green' },
      { query: 'tea' },
    ]);
    expect(byWord('Where is read-me.txt?')).toContainEqual({ query: 'read-me.txt' });
    expect(byWord('tea')).toEqual([]);
  });

  describe('with a tool chosen by configuration', () => {
    const unmarked = { annotations: {} };

    it('asks it, annotated or not, with the configured arguments', () => {
      const tools = [tool('grep', { text, path: text }, unmarked), tool('search', { query: text })];
      const settings = { tool: 'grep', argument: 'text', arguments: { path: '/docs' } };
      expect(asked(tools, settings)).toEqual([['grep', { text: 'why?', path: '/docs' }]]);
    });

    it('finds the argument when none is configured', () => {
      expect(asked([tool('ask', { message: text }, unmarked)], { tool: 'ask' })).toEqual([
        ['ask', { message: 'why?' }],
      ]);
    });

    it('never asks a destructive or unknown tool', () => {
      const purge = tool('purge', { query: text }, { annotations: { destructiveHint: true } });
      expect(refusal([purge], { tool: 'purge' })).toBe('is annotated destructive');
      expect(refusal([purge], { tool: 'search' })).toBe('the server has no such tool');
    });

    it('names missing arguments', () => {
      expect(refusal([tool('grep', { query: text, path: text })], { tool: 'grep' })).toBe(
        'needs other arguments too: path',
      );
    });
  });
});
