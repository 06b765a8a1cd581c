import { randomBytes } from 'node:crypto';
import { type Place, VaultKey } from './vault.js';

const place: Place = { table: 'external_servers', row: 'a', field: 'connection_config' };

describe(VaultKey.name, () => {
  const key = VaultKey.from(randomBytes(32).toString('base64'));

  it('decrypts what it encrypted, and never encrypts twice to the same text', () => {
    const sealed = key.seal('grüße', place);
    expect(key.open(sealed, place)).toBe('grüße');
    expect(key.seal('grüße', place).data).not.toBe(sealed.data);
    expect(JSON.stringify(sealed)).not.toContain('grüße');
  });

  it.each<[string, Partial<Place>]>([
    ['row', { row: 'b' }],
    ['field', { field: 'health_check_url' }],
    ['table', { table: 'settings' }],
  ])('does not open in another %s what was sealed for this one', (_, other) => {
    const sealed = key.seal('secret', place);
    expect(() => key.open(sealed, { ...place, ...other })).toThrow();
  });

  it('refuses text that was changed', () => {
    const sealed = key.seal('secret', place);
    expect(() =>
      key.open({ ...sealed, data: Buffer.from('public').toString('base64url') }, place),
    ).toThrow();
    expect(() => key.open({ ...sealed, tag: sealed.tag.slice(0, 8) }, place)).toThrow();
  });

  it('refuses text that another key encrypted', () => {
    const other = VaultKey.from('another passphrase entirely');
    expect(other.id).not.toBe(key.id);
    expect(() => other.open(key.seal('secret', place), place)).toThrow();
  });

  it('derives the same key from hex and base64, and from the same passphrase', () => {
    const bytes = randomBytes(32);
    expect(VaultKey.from(bytes.toString('hex')).id).toBe(
      VaultKey.from(bytes.toString('base64')).id,
    );
    expect(VaultKey.from('correct horse battery staple').id).toBe(
      VaultKey.from('correct horse battery staple').id,
    );
  });
});
