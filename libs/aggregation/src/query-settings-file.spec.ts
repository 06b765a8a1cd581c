import { readQuerySettings } from './query-settings-file.js';

const read = (aggregation: unknown) =>
  readQuerySettings(JSON.stringify({ mcpServers: {}, aggregation }), 'servers.json');

describe(readQuerySettings, () => {
  it('reads rules in their order and settings with their defaults', () => {
    const rules = [{ pattern: 'docs', servers: ['context7'] }];
    const section = read({
      rules,
      servers: { context7: { weight: 2 }, serena: { enabled: false } },
    });
    expect(section?.rules).toEqual(rules);
    expect(section?.servers.get('context7')).toEqual({
      enabled: true,
      tool: null,
      argument: null,
      arguments: {},
      weight: 2,
    });
    expect(section?.servers.get('serena')).toMatchObject({ enabled: false });
  });

  it('is content with a file that has no such section', () => {
    expect(readQuerySettings('{ "mcpServers": {} /* only */ }', 'servers.json')).toBeUndefined();
  });

  it('refuses mistakes, and says where they are', () => {
    for (const [section, place] of [
      [{ rules: [{ pattern: '(?=x)', servers: ['a'] }] }, 'rules.0.pattern'],
      [{ rules: [{ pattern: 'x', servers: [] }] }, 'aggregation.rules.0.servers'],
      [{ servers: { a: { weight: -1 } } }, 'aggregation.servers.a.weight'],
      [{ servers: { a: { argument: 'q' } } }, 'argument'],
      [{ rule: [] }, 'aggregation'],
    ] as const) {
      expect(() => read(section)).toThrow(
        `The section "aggregation" of servers.json cannot be used: ${place}`,
      );
    }
  });
});
