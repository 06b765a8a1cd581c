import { readFileSync } from 'node:fs';

/** In the scripts, whose check compares it with the SQL of the libs. */
const owners = /export const owners = \{([^}]*)\}/.exec(
  readFileSync('scripts/table-owners.mjs', 'utf8'),
)?.[1];

describe('docs/operations.md', () => {
  const guide = readFileSync('docs/operations.md', 'utf8');

  it('gives the bound of every table, and of no other', () => {
    const tables = [...(owners ?? '').matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
    const bounds = guide.slice(guide.indexOf('## Tables and their bounds'));
    const listed = [...bounds.matchAll(/^\| `(\w+)` +\| \S/gm)].map(([, name]) => name);
    expect(tables.length).toBeGreaterThan(30);
    expect(new Set(listed)).toEqual(new Set(tables));
  });

  it('says what to do for every alert', () => {
    const alerts = [...readFileSync('deploy/alerts.yml', 'utf8').matchAll(/- alert: (\w+)/g)];
    expect(alerts.length).toBeGreaterThan(0);
    for (const [, name] of alerts) expect(guide).toContain(`\`${name}\``);
  });
});
