import type { CatalogueTool } from '@app/catalogue';
import { catalogueOf } from '../../../../test/support/catalogue.js';
import type { Understood } from '../query/understand.js';
import { type ScopeFilter, scopeOf } from '../scope.js';
import { LexicalIndex } from '../words/lexical-index.js';
import { toDocument } from '../words/lexical-tools.js';
import { VisibleWords } from '../words/visible-words.js';
import { NoGoodMatches } from './no-good-match.js';

const snapshot = catalogueOf([
  { name: 'files', tools: ['read_file'] },
  { name: 'mail', tools: ['send_email'] },
  { name: 'home', status: 'DISCONNECTED', tools: ['turn_off_lights'] },
]);
const index = new LexicalIndex();
index.update(snapshot.tools.map(toDocument), []);
/** A tool fits if the query has a word of its name. */
const fits = {
  of: ({ words }: Understood, tools: readonly CatalogueTool[]) =>
    new Map(tools.map(({ id, originalName }) => [id, originalName.includes(words) ? 0.9 : 0])),
};
const matches = new NoGoodMatches({ index } as never, fits as never);

function find(words: string, filter: ScopeFilter = {}) {
  const best = snapshot.tools.slice(0, 1).map((tool) => ({ tool, fit: 0.1 }));
  const visible = new VisibleWords(index, undefined, snapshot.toolsById);
  const around = { scope: scopeOf(snapshot, filter), snapshot, visible, filter };
  return matches.find({ words } as Understood, best, around);
}

describe(NoGoodMatches, () => {
  it('names the server to connect', () => {
    expect(find('lights')?.message).toContain('Connect home, which has a tool that fits');
  });

  it('suggests a new server only if every connected one was searched', () => {
    expect(find('weather')?.message).toContain('register an MCP server');
    for (const filter of [{ servers: ['files'] }, { includeExternal: false }]) {
      const message = find('weather', filter)?.message;
      expect(message).toContain('Probably no tool of the servers that were searched does this');
      expect(message).not.toContain('register');
    }
  });

  it('names the servers that a filter left out and that have a tool that fits', () => {
    expect(find('email', { servers: ['files'] })?.message).toContain(
      'Search without the filter: mail has a tool that fits',
    );
  });
});
