import type { ServerStatus } from '@app/registry';
import { catalogueOf, serverIdOf } from '../../../test/support/catalogue.js';
import { resolveRoute, wireNameOf } from './route.js';

const catalogue = catalogueOf([
  { name: 'github', tools: ['create_issue', 'search', 'github.odd', 'x'.repeat(80)] },
  { name: 'server-a', tools: ['api.v2.create', 'search'] },
  { name: 'jira', tools: ['jira.search', 'a.b'] },
  { name: 'a', tools: ['only_here'] },
]);
const nameOf = (name: string, serverId?: string) =>
  resolveRoute(catalogue, name, serverId).tool.name;

describe(resolveRoute.name, () => {
  it('reports a fault of its own as one of routing (R48)', () => {
    const broken = { ...catalogue, toolsByName: undefined as never };
    const expected = expect.objectContaining({ kind: 'internal', code: 'ROUTING_FAILED' });
    expect(() => resolveRoute(broken, 'github.search')).toThrow(expected);
  });

  describe('with a server', () => {
    it('treats the name as an original name', () => {
      expect(nameOf('search', serverIdOf('github'))).toBe('github.search');
    });

    it('strips the prefix of the server when no tool has it', () => {
      expect(nameOf('github.search', serverIdOf('github'))).toBe('github.search');
    });

    it('prefers a tool whose original name begins with the prefix', () => {
      expect(nameOf('github.odd', serverIdOf('github'))).toBe('github.github.odd');
    });

    it('does not look on other servers', () => {
      expect(() => nameOf('only_here', serverIdOf('github'))).toThrow('Tool not found: only_here');
      expect(() => nameOf('a.only_here', serverIdOf('github'))).toThrow(/Tool not found/);
    });

    it('refuses an unknown server', () => {
      expect(() => nameOf('search', 'nowhere')).toThrow('Server not found: nowhere');
    });
  });

  describe('with a name alone', () => {
    it('splits at the first dot (EC-002)', () => {
      expect(nameOf('server-a.api.v2.create')).toBe('server-a.api.v2.create');
    });

    it('does not search other servers for a tool that the named server lacks', () => {
      expect(() => nameOf('a.b')).toThrow('Tool not found: a.b');
    });

    it('reports the server, not the tool, while the server has never been connected', () => {
      const young = catalogueOf([{ name: 'young', status: 'ERROR', tools: [] }]);
      const unavailable = expect.objectContaining({
        code: 'SERVER_UNAVAILABLE',
        server: { id: serverIdOf('young'), name: 'young', status: 'ERROR' },
      });
      expect(() => resolveRoute(young, 'young.anything')).toThrow(unavailable);
      expect(() => resolveRoute(young, 'anything', serverIdOf('young'))).toThrow(unavailable);
    });

    it('looks up a dotted name as a whole when no server matches', () => {
      expect(nameOf('api.v2.create')).toBe('server-a.api.v2.create');
    });

    it('looks up a bare name that one server has', () => {
      expect(nameOf('only_here')).toBe('a.only_here');
    });

    it('names the candidates when several servers have it', () => {
      expect(() => nameOf('search')).toThrow(
        expect.objectContaining({
          code: 'TOOL_AMBIGUOUS',
          context: {
            candidates: [
              { name: 'github.search', server_id: serverIdOf('github'), server_name: 'github' },
              {
                name: 'server-a.search',
                server_id: serverIdOf('server-a'),
                server_name: 'server-a',
              },
            ],
          },
        }),
      );
    });

    it('means the only server that is up when several have it', () => {
      const shared = (one: ServerStatus, other: ServerStatus) =>
        catalogueOf([
          { name: 'one', status: one, tools: ['find'] },
          { name: 'other', status: other, tools: ['find'] },
        ]);
      for (const down of ['ERROR', 'CONNECTING', 'DISCONNECTED'] as const) {
        expect(resolveRoute(shared('CONNECTED', down), 'find').tool.name).toBe('one.find');
        expect(resolveRoute(shared(down, 'DEGRADED'), 'find').tool.name).toBe('other.find');
        const ambiguous = expect.objectContaining({ code: 'TOOL_AMBIGUOUS' });
        expect(() => resolveRoute(shared(down, 'ERROR'), 'find')).toThrow(ambiguous);
      }
      for (const up of ['CONNECTED', 'DEGRADED'] as const) {
        const ambiguous = expect.objectContaining({ code: 'TOOL_AMBIGUOUS' });
        expect(() => resolveRoute(shared('CONNECTED', up), 'find')).toThrow(ambiguous);
      }
    });

    it.each([
      ['young', 'young__anything'],
      ['young', 'young__with__seams'],
      ['two__parts', 'two__parts__anything__abcdefghijklm'],
      ['ends_', 'ends___anything'],
    ])(
      'reports the server %s for the wire name %s while it has never been connected',
      (name, of) => {
        const picture = catalogueOf([
          { name, status: 'ERROR', tools: [] },
          { name: 'two', tools: [] },
        ]);
        const unavailable = expect.objectContaining({
          code: 'SERVER_UNAVAILABLE',
          server: { id: serverIdOf(name), name, status: 'ERROR' },
        });
        expect(() => resolveRoute(picture, of)).toThrow(unavailable);
      },
    );

    it('reports the tool for the wire name of a server that is up or unknown', () => {
      const expected = expect.objectContaining({ code: 'TOOL_NOT_FOUND' });
      const down = catalogueOf([{ name: 'young', status: 'ERROR', tools: [] }]);
      for (const name of ['young_anything', '__young', 'old__anything', 'young', 'youn__g__x']) {
        expect(() => resolveRoute(down, name)).toThrow(expected);
      }
      expect(() => resolveRoute(catalogue, 'github__nothing')).toThrow(expected);
    });

    it('takes names of up to 48 characters for wire names', () => {
      const down = catalogueOf([{ name: 'young', status: 'ERROR', tools: [] }]);
      const unavailable = expect.objectContaining({ code: 'SERVER_UNAVAILABLE' });
      expect(() => resolveRoute(down, 'young__'.padEnd(48, 'x'))).toThrow(unavailable);
      const unknown = expect.objectContaining({ code: 'TOOL_NOT_FOUND' });
      expect(() => resolveRoute(down, 'young__'.padEnd(49, 'x'))).toThrow(unknown);
      const tool = 'x'.repeat(48 - 'full__'.length);
      const full = catalogueOf([{ name: 'full', tools: [tool, `${tool}x`] }]);
      expect(resolveRoute(full, `full__${tool}`).tool.originalName).toBe(tool);
      expect(() => resolveRoute(full, `full__${tool}x`)).toThrow(unknown);
    });

    it('says of an own tool that it is called in another way', () => {
      const [tool] = catalogueOf([{ name: 'mcp__proxy', tools: ['query'] }]).tools;
      if (!tool) throw new Error('unreachable');
      const own = { ...tool, isExternal: false, serverId: '' };
      const picture = { ...catalogue, toolsByName: new Map([[own.name, own]]) };
      const expected = expect.objectContaining({ code: 'TOOL_NOT_ROUTED' });
      expect(() => resolveRoute(picture, own.name)).toThrow(expected);
    });

    it('is case-sensitive', () => {
      expect(() => nameOf('Only_Here')).toThrow(/Tool not found/);
    });

    it('finds every tool by its wire name', () => {
      for (const tool of catalogue.tools) {
        expect(nameOf(wireNameOf(tool))).toBe(tool.name);
        expect(nameOf(wireNameOf(tool), tool.serverId)).toBe(tool.name);
      }
    });
  });
});
