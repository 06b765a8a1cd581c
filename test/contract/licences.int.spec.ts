import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/env.js';

interface Locked {
  readonly license?: string;
  readonly dev?: boolean;
}

/** No server listens at this address: known advisories must not decide these tests. */
const OFFLINE = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' };

describe('npm run licences', () => {
  const judge = async (folder: string): Promise<{ code: unknown; output: string }> => {
    const env = { ...process.env, ...OFFLINE };
    const args = ['scripts/licences.mjs', folder];
    return promisify(execFile)(process.execPath, args, { env }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      (error: { code: unknown; stdout: string }) => ({ code: error.code, output: error.stdout }),
    );
  };
  const judgePackage = async (locked: Locked): Promise<{ code: unknown; output: string }> => {
    const folder = await temporaryFolder();
    try {
      const packages = { '': {}, 'node_modules/a-package': { version: '1.2.3', ...locked } };
      const lock = { lockfileVersion: 3, packages };
      await writeFile(join(folder.path, 'package-lock.json'), JSON.stringify(lock));
      return await judge(folder.path);
    } finally {
      await folder.remove();
    }
  };

  it('finds only permissive licences in the production dependencies', async () => {
    const { code, output } = await judge('.');
    expect(output).not.toMatch(/not allowed/);
    expect(output).toMatch(/advisories not known: the registry does not answer/);
    expect(code).toBe(0);
  });

  it.each([
    [{ license: 'GPL-3.0-only' }],
    [{ license: 'MIT AND AGPL-3.0-only' }],
    [{ license: 'SEE LICENSE IN LICENSE.txt' }],
    [{ license: '' }],
    [{}],
  ])('refuses %j and names the package', async (locked) => {
    const { code, output } = await judgePackage(locked);
    expect(output).toMatch(/a-package@1\.2\.3/);
    expect(code).toBe(1);
  });

  it.each([[{ license: '(MIT OR GPL-3.0-or-later)' }], [{ license: 'GPL-3.0', dev: true }]])(
    'accepts %j',
    async (locked) => {
      expect((await judgePackage(locked)).code).toBe(0);
    },
  );
});
