import { buildProgram } from '../program.js';
import { screenOf } from '../screen.js';
import { wantedAt } from './candidates.js';

const program = buildProgram({
  version: '1.2.3',
  env: {},
  output: (isJson) => ({ isJson, screen: screenOf({}, {}), add: () => undefined }),
});

function wordsAt(...words: string[]): readonly string[] {
  const wanted = wantedAt(program, words);
  return wanted.kind === 'words' ? wanted.words.map(({ word }) => word) : [];
}

describe(wantedAt.name, () => {
  it('offers commands, but not those for scripts', () => {
    expect(wordsAt('')).toEqual(expect.arrayContaining(['servers', 'tools', 'search', 'stdio']));
    expect(wordsAt('')).not.toContain('complete');
    expect(wordsAt('--url', 'http://x', 'servers', '')).toEqual(
      expect.arrayContaining(['list', 'show', 'add', 'edit', 'remove', 'logs', 'import']),
    );
  });

  it('offers options of the command and of all commands', () => {
    expect(wordsAt('servers', 'add', '--')).toEqual(
      expect.arrayContaining(['--server-url', '--env', '--json', '--url', '--help']),
    );
  });

  it('offers the values that an option or argument may have', () => {
    expect(wordsAt('clients', '--endpoint', '')).toEqual(['all', 'search']);
    expect(wordsAt('clients', '--endpoint=')).toEqual(['--endpoint=all', '--endpoint=search']);
    expect(wordsAt('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it.each([
    [['servers', 'show', ''], 'server', ''],
    [['servers', '--json', 'edit', 'no'], 'server', ''],
    [['events', ''], 'server', ''],
    [['tools', 'list', '--server', ''], 'server', ''],
    [['search', '--server=n'], 'server', '--server='],
    [['tools', 'call', 'notes.'], 'tool', ''],
    [['call', ''], 'tool', ''],
    [['skills', 'show', ''], 'skill', ''],
    [['views', 'preview', ''], 'view', ''],
    [['grants', 'give', 'token:ci', ''], 'view', ''],
    [['overrides', 'set', 'notes.add', '--view', ''], 'view', ''],
    [['access', 'explain', 'anyone', 'support', ''], 'tool', ''],
  ])('wants names after %j', (words, of, prefix) => {
    expect(wantedAt(program, words)).toEqual({ kind: 'names', of, prefix });
  });

  it.each([
    [['servers', 'import', ''], 'files'],
    [['policy', 'export', ''], 'files'],
    [['servers', 'edit', 'x', '--file', ''], 'files'],
    [['servers', 'add', 'x', '--', ''], 'files'],
    [['servers', 'add', 'x', '--', 'npx', '--'], 'files'],
    [['servers', 'show', 'x', ''], 'nothing'],
    [['servers', 'add', '--description', ''], 'nothing'],
    [['search', 'text', ''], 'nothing'],
    [['no-such-command', ''], 'words'],
  ])('after %j there are %s', (words, kind) => {
    expect(wantedAt(program, words)).toMatchObject({ kind });
  });
});
