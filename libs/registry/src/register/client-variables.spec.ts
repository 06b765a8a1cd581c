import { clientVariables } from './client-variables.js';

describe(clientVariables.name, () => {
  it.each([
    ['/work/shop/.vscode/mcp.json', '/work/shop'],
    ['/work/shop/.cursor/mcp.json', '/work/shop'],
    ['/work/shop/.mcp.json', '/work/shop'],
  ])('resolves the project folder of %s', (file, folder) => {
    const { expand } = clientVariables(file, '/home/me');
    expect(expand('--root=${workspaceFolder}${/}src')).toBe(`--root=${folder}/src`);
    expect(expand('${workspaceFolderBasename}')).toBe('shop');
  });

  it.each([
    ['server', '/work/shop/server'],
    ['/srv', '/srv'],
    ['${ROOT}/server', '${ROOT}/server'],
  ])('resolves the relative path %s against the project folder', (path, folder) => {
    expect(clientVariables('/work/shop/.vscode/mcp.json').folder(path)).toBe(folder);
  });

  it('resolves the home directory of the user', () => {
    expect(clientVariables('/a/b.json', '/home/me').expand('${userHome}/x')).toBe('/home/me/x');
  });

  it('leaves environment variables for the service to resolve', () => {
    const { expand } = clientVariables('/a/b.json', '/home/me');
    expect(expand('${env:TOKEN} ${TOKEN} ${TOKEN:-none} ${constructor}')).toBe(
      '${TOKEN} ${TOKEN} ${TOKEN:-none} ${constructor}',
    );
  });
});
