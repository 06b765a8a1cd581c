import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../../../migrations/index.js';
import { temporaryFolder } from '../../../../test/support/env.js';
import { makeDatabaseTemplate } from './migrate-once.js';

describe(makeDatabaseTemplate.name, () => {
  it('leaves a template that every user can read, whatever the umask of the build', async () => {
    const folder = await temporaryFolder();
    const template = join(folder.path, 'template');
    const umask = process.umask(0o077);
    try {
      await makeDatabaseTemplate(template, migrations);
    } finally {
      process.umask(umask);
    }
    const paths = [
      template,
      ...readdirSync(template, { recursive: true }).map((name) => join(template, String(name))),
    ];
    const unreadable = paths.filter((path) => {
      const found = statSync(path);
      const needed = found.isDirectory() ? 0o005 : 0o004;
      return (found.mode & needed) !== needed;
    });
    expect(paths.length).toBeGreaterThan(100);
    expect(unreadable).toEqual([]);
    expect(readdirSync(folder.path).toSorted()).toEqual(['template', 'template.json']);
    await folder.remove();
  });
});
