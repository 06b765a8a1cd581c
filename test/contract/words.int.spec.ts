import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/env.js';

/** Concatenated, so that this file itself contains no banned word. */
const again = ['a', 'new'].join('');
const actor = ['Some', 'body'].join('');
const phrase = ['goes', 'on'].join(' ');

describe('npm run words', () => {
  const problemsOf = async (path: string, text: string): Promise<string[]> => {
    const folder = await temporaryFolder();
    try {
      await mkdir(dirname(join(folder.path, path)), { recursive: true });
      await writeFile(join(folder.path, path), text);
      return await promisify(execFile)(process.execPath, [
        'scripts/check-words.mjs',
        folder.path,
      ]).then(
        () => [],
        (error: { stderr: string }) => error.stderr.trim().split('\n'),
      );
    } finally {
      await folder.remove();
    }
  };

  it.each<[string, string, string]>([
    ['libs/a/src/a.ts', `\n/** Connects ${again}. */\n`, `libs/a/src/a.ts:2 "${again}": "again"`],
    [
      'README.md',
      `${actor} calls.\n`,
      `README.md:1 "${actor}": name the actor: "a user", "another client"`,
    ],
    [
      'conformance/a.mjs',
      `// It ${phrase}.\n`,
      `conformance/a.mjs:1 "${phrase}": "continues", "keeps serving"`,
    ],
  ])(
    'fails on a banned word in %s, with its line and the alternative',
    async (path, text, said) => {
      expect(await problemsOf(path, text)).toEqual([said]);
    },
  );

  it.each([
    ['plain words', 'docs/a.md', 'It connects again.\n'],
    ['a longer word', 'libs/a/src/a.ts', `const ${again}Line = 1;\n`],
    ['generated code', 'libs/a/src/generated/a.ts', `// ${again}\n`],
    ['files that are not checked', 'CODE_OF_CONDUCT.md', `${actor}\n`],
  ])('accepts %s', async (_, path, text) => {
    expect(await problemsOf(path, text)).toEqual([]);
  });
});
