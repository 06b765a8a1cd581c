import * as sdk from '@modelcontextprotocol/server';
import * as protocol from './protocol.js';

describe('the names of the protocol', () => {
  const { LEGACY_VERSIONS, MODERN_VERSIONS, ...keys } = protocol;

  it.each(Object.entries(keys))('has %s with the value of the SDK', (name, key) => {
    expect(sdk).toHaveProperty(name, key);
  });

  it('lists every revision of the SDK', () => {
    const known = sdk.SUPPORTED_PROTOCOL_VERSIONS.filter((v) => !MODERN_VERSIONS.includes(v));
    expect(LEGACY_VERSIONS).toEqual(known);
  });
});
