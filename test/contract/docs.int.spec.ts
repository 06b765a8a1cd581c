import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/env.js';

type Files = Readonly<Record<string, string>>;

/** Concatenated, so that this file itself cites nothing. */
const rule = (number: number): string => `R${number}`;
const record = (number: string): string => ['docs', 'decisions', number].join('/');

const sound: Files = {
  'docs/contract.md': `# Contract\n\n### ${rule(1)}\n\nIt answers.\n\n- [answers](../a.spec.ts)\n`,
  'a.spec.ts': `it('answers', () => undefined);`,
  'a.ts': `// The contract's ${rule(1)}, and docs/decisions/0001.`,
  'docs/decisions/README.md': '- [0001](0001-one.md): a choice.\n',
  'docs/decisions/0001-one.md': '# 0001. One\n',
  'README.md':
    '# Top\n\n## `a.b` and more\n\n[here](#ab-and-more) [there](docs/) [out](https://a.example)\n',
};

describe('npm run docs', () => {
  const problemsOf = async (files: Files): Promise<string[]> => {
    const folder = await temporaryFolder();
    try {
      for (const [path, text] of Object.entries({ ...sound, ...files })) {
        await mkdir(dirname(join(folder.path, path)), { recursive: true });
        await writeFile(join(folder.path, path), text);
      }
      return await check(folder.path);
    } finally {
      await folder.remove();
    }
  };
  const check = (folder: string): Promise<string[]> =>
    promisify(execFile)(process.execPath, ['scripts/check-docs.mjs', folder]).then(
      () => [],
      (error: { stderr: string }) => error.stderr.trim().split('\n'),
    );

  it('finds no broken reference in this repository', async () => {
    expect(await check('.')).toEqual([]);
  });

  it('accepts valid citations, tests, decisions and links', async () => {
    expect(await problemsOf({})).toEqual([]);
  });

  it.each<[string, Files, string]>([
    [
      'a log line without an event',
      { 'libs/a/src/a.ts': "logger.warn({ server }, 'it went away');" },
      "libs/a/src/a.ts:1 logs without an event: the message must be like 'server.connected'",
    ],
    [
      'another spelling of a common key',
      {
        'libs/a/src/a.ts': "logger.warn({ serverId, why: f(1, ')') }, 'server.lost');",
        'docs/logging.md': '| `server.lost` | warn |',
      },
      'libs/a/src/a.ts:1 logs the key serverId: use the keys of docs/logging.md',
    ],
    [
      'an event that is not listed, of a constant too',
      { 'libs/a/src/a.ts': "const EVENTS = { A: 'server.lost' };\nlogger.log({}, EVENTS[a]);" },
      'docs/logging.md does not list the event server.lost',
    ],
    [
      'a listed event that no lib logs',
      { 'docs/logging.md': '| `server.lost` | warn |' },
      'docs/logging.md lists server.lost, which no lib logs',
    ],
    [
      'a citation without an entry',
      { 'b.ts': `\n// ${rule(77)}` },
      `b.ts:2 cites ${rule(77)}, which docs/contract.md does not have`,
    ],
    [
      'an entry without a test',
      { 'docs/contract.md': `### ${rule(1)}\n\nIt answers.\n` },
      `docs/contract.md:1 ${rule(1)} names no test; write "No test holds this" if so`,
    ],
    [
      'a second entry of one name',
      {
        'docs/contract.md': `${sound['docs/contract.md']}\n### ${rule(1)}\n\nNo test holds this.\n`,
      },
      `docs/contract.md:9 has ${rule(1)} a second time`,
    ],
    [
      'a test that is elsewhere',
      { 'a.spec.ts': '', 'b.spec.ts': sound['a.spec.ts'] ?? '' },
      'docs/contract.md:7 a.spec.ts has no test "answers"; it is in b.spec.ts',
    ],
    [
      'a title that is only the beginning of another',
      { 'a.spec.ts': `it('answers twice', () => undefined);` },
      'docs/contract.md:7 a.spec.ts has no test "answers"',
    ],
    [
      'a link to a missing file',
      { 'docs/a.md': '[a](b.md)' },
      'docs/a.md:1 links to b.md: there is no such file',
    ],
    [
      'a link to a file that was moved',
      { 'docs/a.md': '[a](a.spec.ts)' },
      'docs/a.md:1 links to a.spec.ts: there is no such file; a.spec.ts has that name',
    ],
    [
      'a link to a missing heading',
      { 'docs/a.md': '# A\n\n[a](../README.md#b)' },
      'docs/a.md:3 links to ../README.md#b: that file has no such heading',
    ],
    [
      'a decision that is not listed',
      { 'docs/decisions/0002-two.md': '# 0002. Two\n' },
      'docs/decisions/README.md does not list 0002-two.md',
    ],
    [
      'a decision without its number in the title',
      { 'docs/decisions/0001-one.md': '# One\n' },
      'docs/decisions/0001-one.md:1 must begin with "# 0001. " and a title',
    ],
    [
      'two decisions of one number',
      {
        'docs/decisions/0001-two.md': '# 0001. Two\n',
        'docs/decisions/README.md': '- [0001](0001-one.md)\n- [0001](0001-two.md)\n',
      },
      'docs/decisions/0001-two.md has the number of another decision',
    ],
    [
      'a citation of a missing decision',
      { 'b.ts': `// ${record('0009')}` },
      `b.ts:1 cites ${record('0009')}, which is not there`,
    ],
    [
      'a number that links to another decision',
      { 'docs/a.md': '[0002](decisions/0001-one.md)' },
      'docs/a.md:1 [0002] links to decisions/0001-one.md',
    ],
  ])('finds %s', async (_, files, problem) => {
    expect(await problemsOf(files)).toEqual([problem]);
  });

  it('follows no link in code', async () => {
    expect(await problemsOf({ 'docs/a.md': '`[a](b.md)`\n\n```md\n[a](b.md)\n```\n' })).toEqual([]);
  });
});
