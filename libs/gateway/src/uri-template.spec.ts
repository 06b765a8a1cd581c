import { templateMatches } from './uri-template.js';

describe(templateMatches.name, () => {
  it.each([
    ['demo://text/{id}', 'demo://text/1', true],
    ['demo://text/{id}', 'demo://blob/1', false],
    ['file:///{+path}', 'file:///a/b/c', true],
    ['db://{table}/rows/{id}', 'db://users/rows/7', true],
    ['db://{table}/rows/{id}', 'db://users/cells/7', false],
    ['a{x}a', 'a', false],
    ['fixed://one', 'fixed://one', true],
    ['fixed://one', 'fixed://one/more', false],
    ['search://q{?query,limit}', 'search://q?query=x', true],
  ])('%s and %s: %s', (template, uri, expected) => {
    expect(templateMatches(template, uri)).toBe(expected);
  });

  it('takes no time for a template made to be slow', () => {
    const started = performance.now();
    templateMatches('{a}a'.repeat(10_000), `${'a'.repeat(20_000)}b`);
    expect(performance.now() - started).toBeLessThan(200);
  });
});
