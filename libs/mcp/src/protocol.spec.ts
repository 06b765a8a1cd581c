import * as sdk from '@modelcontextprotocol/server';
import * as protocol from './protocol.js';
import { MODERN_VERSIONS } from './serving/modern-rules.js';

describe('the names of the protocol', () => {
  const { LEGACY_VERSIONS, ...keys } = protocol;

  it.each(Object.entries(keys))('has %s as the SDK has it', (name, key) => {
    expect(sdk).toHaveProperty(name, key);
  });

  it('knows every revision that the SDK knows', () => {
    const known = sdk.SUPPORTED_PROTOCOL_VERSIONS.filter((v) => !MODERN_VERSIONS.includes(v));
    expect(LEGACY_VERSIONS).toEqual(known);
  });
});
