import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = 'dist/console';
const KIB = 1_024;

const gzipped = (file: string): number =>
  gzipSync(readFileSync(join(FOLDER, file)), { level: 9 }).length / KIB;

/** Scripts that `index.html` names: the entry and what it imports. */
function initialScripts(): string[] {
  const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
  return [...html.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].flatMap(
    ([, file]) => file ?? [],
  );
}

const scripts = readdirSync(join(FOLDER, 'assets'))
  .filter((name) => name.endsWith('.js'))
  .map((name) => `assets/${name}`);

describe('the size of the console', () => {
  it('loads at most 200 KiB of scripts before the first page is shown', () => {
    const initial = initialScripts();
    expect(initial.length).toBeGreaterThan(0);
    expect(initial.map(gzipped).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200);
  });

  it('loads at most 110 KiB at a time after that', () => {
    const initial = new Set(initialScripts());
    const lazy = scripts.filter((file) => !initial.has(file));
    expect(lazy.length).toBeGreaterThan(0);
    const tooLarge = lazy.filter((file) => gzipped(file) > 110);
    expect(tooLarge).toEqual([]);
  });

  it('has at most 450 KiB of scripts in all', () => {
    expect(scripts.map(gzipped).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(450);
  });

  it('has no script in its page, which the security policy would block', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/);
    expect(html).not.toMatch(/\son\w+=/);
  });
});
