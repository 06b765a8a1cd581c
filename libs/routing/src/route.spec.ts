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
  describe('with a server', () => {
    it('takes the name as the server’s own', () => {
      expect(nameOf('search', serverIdOf('github'))).toBe('github.search');
    });

    it('takes the server’s prefix off when no tool has it', () => {
      expect(nameOf('github.search', serverIdOf('github'))).toBe('github.search');
    });

    it('prefers a tool whose own name begins like the prefix', () => {
      expect(nameOf('github.odd', serverIdOf('github'))).toBe('github.github.odd');
    });

    it('does not look on other servers', () => {
      expect(() => nameOf('only_here', serverIdOf('github'))).toThrow('Tool not found: only_here');
      expect(() => nameOf('a.only_here', serverIdOf('github'))).toThrow(/Tool not found/);
    });

    it('refuses a server that is not there', () => {
      expect(() => nameOf('search', 'nowhere')).toThrow('Server not found: nowhere');
    });
  });

  describe('with a name alone', () => {
    it('splits at the first dot (EC-002)', () => {
      expect(nameOf('server-a.api.v2.create')).toBe('server-a.api.v2.create');
    });

    it('does not look elsewhere for a tool that its server lacks', () => {
      expect(() => nameOf('a.b')).toThrow('Tool not found: a.b');
    });

    it('blames the server, not the tool, while the server has never been connected', () => {
      const young = catalogueOf([{ name: 'young', status: 'ERROR', tools: [] }]);
      const unavailable = expect.objectContaining({
        code: 'SERVER_UNAVAILABLE',
        server: { id: serverIdOf('young'), name: 'young', status: 'ERROR' },
      });
      expect(() => resolveRoute(young, 'young.anything')).toThrow(unavailable);
      expect(() => resolveRoute(young, 'anything', serverIdOf('young'))).toThrow(unavailable);
    });

    it('looks a dotted name up as a whole when there is no such server', () => {
      expect(nameOf('api.v2.create')).toBe('server-a.api.v2.create');
    });

    it('looks up a bare name that one server has', () => {
      expect(nameOf('only_here')).toBe('a.only_here');
    });

    it('names the candidates when several have it', () => {
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

    it('tells upper from lower case', () => {
      expect(() => nameOf('Only_Here')).toThrow(/Tool not found/);
    });

    it('finds every tool by the name it has on the wire', () => {
      for (const tool of catalogue.tools) {
        expect(nameOf(wireNameOf(tool))).toBe(tool.name);
        expect(nameOf(wireNameOf(tool), tool.serverId)).toBe(tool.name);
      }
    });
  });
});
