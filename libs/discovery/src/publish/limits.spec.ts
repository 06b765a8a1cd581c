import { atOnce } from '@app/platform';
import { withinLimits } from './limits.js';
import { readTools } from '../tool.js';

describe(withinLimits.name, () => {
  const tools = (count: number) =>
    atOnce(readTools(Array.from({ length: count }, (_, i) => ({ name: `tool-${i + 1}` })))).tools;
  const namesOf = (published: readonly { readonly originalName: string }[]): string[] =>
    published.map(({ originalName }) => originalName);

  it('publishes everything within both limits, without a warning', () => {
    const { published, warnings } = withinLimits(tools(3), [], { perServer: 3, free: 3 });
    expect(namesOf(published)).toEqual(['tool-1', 'tool-2', 'tool-3']);
    expect(warnings).toEqual([]);
  });

  it('publishes tools up to the limit of a server, and names the others', () => {
    const { published, warnings } = withinLimits(tools(4), [], { perServer: 2, free: 9 });
    expect(namesOf(published)).toEqual(['tool-1', 'tool-2']);
    expect(warnings).toEqual([
      '2 tools over the limit (MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER, 2 a server) not published: tool-3, tool-4',
    ]);
  });

  it('publishes what is left of the limit over all servers, and names that setting', () => {
    const { published, warnings } = withinLimits(tools(2), [], { perServer: 9, free: 1 });
    expect(namesOf(published)).toEqual(['tool-1']);
    expect(warnings).toEqual([
      '1 tool over the limit (MCP_AGGREGATOR_MAX_TOOLS, over all servers) not published: tool-2',
    ]);
  });

  it('publishes nothing when other servers already exceed the total limit', () => {
    expect(withinLimits(tools(1), [], { perServer: 9, free: -5 }).published).toEqual([]);
  });

  it('names every tool that is left out, however many (R50)', () => {
    const { warnings } = withinLimits(tools(6_000), [], { perServer: 1_000, free: 10_000 });
    const [named = ''] = warnings.map((warning) => warning.split('published: ')[1]);
    const left = Array.from({ length: 5_000 }, (_, i) => `tool-${i + 1_001}`);
    expect(named.split(', ')).toEqual(left);
  });

  it('names every tool that is refused, however many (R50)', () => {
    const remarks = tools(5_000).map(({ originalName: name }) => ({ name, text: 'is refused' }));
    const { warnings } = withinLimits([], remarks, { perServer: 9, free: 9 });
    expect(warnings).toEqual(remarks.map(({ name, text }) => `tool "${name}" ${text}`));
  });

  it('counts what would make the warnings larger than half a megabyte', () => {
    const long = tools(4_000).map((tool, i) => ({
      ...tool,
      originalName: `${i}`.padEnd(255, 'x'),
    }));
    const remarks = long.map(({ originalName: name }) => ({ name, text: 'is refused' }));
    const { warnings } = withinLimits(long, remarks, { perServer: 0, free: 9 });
    expect(warnings.join('').length).toBeLessThan(550_000);
    expect(warnings[0]).toMatch(/xxx and 2972 more$/);
    expect(warnings.at(-1)).toBe('3040 more remarks of such kinds');
  });

  it('counts as left out what other servers leave no room for, not what the server has too many of', () => {
    expect(withinLimits(tools(4), [], { perServer: 3, free: 1 }).leftOut).toBe(2);
    expect(withinLimits(tools(4), [], { perServer: 3, free: -5 }).leftOut).toBe(3);
    expect(withinLimits(tools(4), [], { perServer: 3, free: 9 }).leftOut).toBe(0);
  });

  it('passes on the remarks about single tools', () => {
    const remarks = [{ name: 'a', text: 'is not published: it has no name' }];
    const { warnings } = withinLimits([], remarks, { perServer: 9, free: 9 });
    expect(warnings).toEqual(['tool "a" is not published: it has no name']);
  });
});
