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

  it('accepts a file without the section', () => {
    expect(readQuerySettings('{ "mcpServers": {} /* only */ }', 'servers.json')).toBeUndefined();
  });

  it('refuses more server names than REST accepts', () => {
    const servers = Array.from({ length: 1_001 }, (_, i) => `server-${i}`);
    expect(() => read({ rules: [{ pattern: 'x', servers }] })).toThrow('at most 1000 servers');
  });

  it('refuses invalid settings and names their place', () => {
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
