import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/support/env.js';
import { locateLocalService, locateService } from './locate-service.js';

describe(locateService.name, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    writeFileSync(join(folder.path, 'admin-token'), 'of-the-folder\n');
    writeFileSync(join(folder.path, 'address'), 'http://10.0.0.7:8081\n');
  });
  afterEach(() => folder.remove());

  const tokenFor = (url?: string, more: Record<string, string> = {}): string | undefined =>
    locateService({ url }, { MCP_AGGREGATOR_DATA_DIR: folder.path, ...more }).token;

  it.each([
    undefined,
    'http://10.0.0.7:8081/mcp',
    'http://127.0.0.1:9000',
    'http://localhost:8081',
    'http://[::1]:8081',
  ])('sends the token of the data folder to its own service and to this machine: %s', (url) => {
    expect(tokenFor(url)).toBe('of-the-folder');
  });

  it.each([
    'https://other.example',
    'http://10.0.0.7:9000',
    'https://10.0.0.7:8081',
    'http://localhost.other.example',
    'http://127.0.0.1@other.example',
  ])('sends the token of the data folder to no other address: %s', (url) => {
    expect(tokenFor(url)).toBeUndefined();
    expect(tokenFor(undefined, { SWITCHBOARD_URL: url })).toBeUndefined();
  });

  it('sends a token that is given wherever it is asked to', () => {
    expect(tokenFor('https://other.example', { SWITCHBOARD_TOKEN: 'given' })).toBe('given');
  });

  it('asks the service of the folder with its own token, not with that of another service', () => {
    const tokenWith = (more: Record<string, string>): string | undefined =>
      locateLocalService('http://10.0.0.7:8081', undefined, {
        MCP_AGGREGATOR_DATA_DIR: folder.path,
        SWITCHBOARD_TOKEN: 'of-the-variable',
        ...more,
      }).token;
    expect(tokenWith({ SWITCHBOARD_URL: 'https://other.example' })).toBe('of-the-folder');
    expect(tokenWith({})).toBe('of-the-variable');
    expect(tokenWith({ SWITCHBOARD_URL: 'http://10.0.0.7:8081/mcp' })).toBe('of-the-variable');
  });
});
