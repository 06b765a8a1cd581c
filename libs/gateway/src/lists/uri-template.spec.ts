import { processorMs } from '../../../../test/support/loop-delay.js';
import { UriTemplate } from './uri-template.js';

describe(UriTemplate.name, () => {
  it.each([
    ['demo://text/{id}', 'demo://text/1', true],
    ['demo://text/{id}', 'demo://blob/1', false],
    ['file:///{+path}', 'file:///a/b/c', true],
    ['db://{table}/rows/{id}', 'db://users/rows/7', true],
    ['db://{table}/rows/{id}', 'db://users/cells/7', false],
    ['a{x}a', 'a', false],
    // Expressions may stand for nothing, literals never overlap.
    ['db://{table}/rows/{id}', 'db:///rows/', true],
    ['{x}a{y}', 'a', true],
    ['a{x}b{y}b', 'ab', false],
    ['a{x}b{y}b', 'abb', true],
    ['a{x}bb{y}b', 'abb', false],
    ['aba{x}a{y}', 'aba', false],
    ['a{x}z', 'axy', false],
    ['fixed://one', 'fixed://one', true],
    ['fixed://one', 'fixed://one/more', false],
    ['search://q{?query,limit}', 'search://q?query=x', true],
  ])('%s and %s: %s', (template, uri, expected) => {
    expect(new UriTemplate(template).matches(uri)).toBe(expected);
  });

  it('matches in linear time, even a template built to be slow', () => {
    const spent = processorMs(() => {
      new UriTemplate('{a}a'.repeat(10_000)).matches(`${'a'.repeat(20_000)}b`);
    });
    expect(spent).toBeLessThan(1_000);
  });

  it.each([
    ['file:///{+path}', true],
    ['git+ssh:{+rest}', true],
    ['{+any}', false],
    ['{scheme}://host/{path}', false],
    ['notes/{id}', false],
    ['', false],
  ])('detects whether it begins with a scheme: %s is %s', (template, expected) => {
    expect(new UriTemplate(template).hasScheme).toBe(expected);
  });
});
