import { Logger } from '@nestjs/common';
import { parseEnv, type SettingsStore } from '@app/platform';
import { UnreadableCredentials, WrongCredentialKey } from '../registry.errors.js';
import { CredentialVault } from './credential-vault.js';
import type { Place } from './vault.js';

const place: Place = { table: 'external_servers', row: 'a', field: 'connection_config' };

/** The settings of a database, which outlives the vaults of several starts. */
function database(): { settings: SettingsStore; rows: Map<string, unknown> } {
  const rows = new Map<string, unknown>();
  const settings: Pick<SettingsStore, 'insertIfAbsent' | 'get' | 'put'> = {
    insertIfAbsent: async (key, value) => {
      if (!rows.has(key)) rows.set(key, value);
    },
    get: async (key) => rows.get(key),
    put: async (key, value) => void rows.set(key, value),
  };
  return { settings: settings as SettingsStore, rows };
}

async function start(
  settings: SettingsStore,
  key: string,
  previous?: string,
): Promise<CredentialVault> {
  const env = parseEnv({
    MCP_CREDENTIAL_KEY: key,
    ...(previous && { MCP_CREDENTIAL_KEY_PREVIOUS: previous }),
  });
  const vault = new CredentialVault(env, settings);
  await vault.onModuleInit();
  return vault;
}

describe(CredentialVault.name, () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('opens what it sealed, at a later start too', async () => {
    const { settings } = database();
    const sealed = (await start(settings, 'first key of this test')).seal('secret', place);
    const later = await start(settings, 'first key of this test');
    expect(later.open(JSON.parse(JSON.stringify(sealed)), place)).toBe('secret');
  });

  it('does not start with another key than the credentials were sealed with', async () => {
    const { settings } = database();
    await start(settings, 'first key of this test');
    await expect(start(settings, 'another key of this test')).rejects.toThrow(WrongCredentialKey);
  });

  it.each([null, 'text', {}, { v: 1 }])(
    'does not start with %j in the place of the check',
    async (stored) => {
      const { settings, rows } = database();
      await start(settings, 'first key of this test');
      for (const key of rows.keys()) rows.set(key, stored);
      await expect(start(settings, 'first key of this test')).rejects.toThrow(WrongCredentialKey);
    },
  );

  it('opens what the previous key sealed, and seals with the current one', async () => {
    const { settings } = database();
    const old = await start(settings, 'first key of this test');
    const both = await start(settings, 'second key of this test', 'first key of this test');
    expect(both.open(old.seal('secret', place), place)).toBe('secret');
    expect(() => old.open(both.seal('secret', place), place)).toThrow(UnreadableCredentials);
  });

  it('needs the previous key no more once the check is sealed again', async () => {
    const { settings } = database();
    await start(settings, 'first key of this test');
    const both = await start(settings, 'second key of this test', 'first key of this test');
    await both.sealCheck(undefined as never);
    await expect(start(settings, 'second key of this test')).resolves.toBeDefined();
    await expect(start(settings, 'first key of this test')).rejects.toThrow(WrongCredentialKey);
  });

  it('says of which row the credentials cannot be read, and nothing of them', async () => {
    const { settings } = database();
    const vault = await start(settings, 'first key of this test');
    const sealed = vault.seal('secret', place);
    const unreadable = new UnreadableCredentials('external_servers a');
    for (const stored of [null, {}, { ...sealed, kid: 'unknown' }, { ...sealed, data: 'AAAA' }]) {
      expect(() => vault.open(stored, place)).toThrow(unreadable);
    }
    expect(() => vault.open(sealed, { ...place, row: 'b' })).toThrow('external_servers b');
  });
});
