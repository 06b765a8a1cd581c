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

  it('has a section for every alert, at the address that its rule names, and for no other', () => {
    const files = ['switchboard.rules.yaml', 'service.rules.yaml'];
    const rules = files.map((file) => readFileSync(`deploy/prometheus/${file}`, 'utf8')).join('');
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
    const runbooks = [...rules.matchAll(/runbook: docs\/operations\.md#(\w+)/g)];
    const sections = [...guide.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(alerts.length).toBeGreaterThan(0);
    expect(new Set(sections)).toEqual(new Set(alerts));
    expect(runbooks.map(([, anchor]) => anchor)).toEqual(alerts.map((name) => name.toLowerCase()));
  });
});
