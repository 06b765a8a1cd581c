import { readFileSync } from 'node:fs';
import { effectiveSettings, readSettingTexts } from './effective-settings.js';
import { envSchema, parseEnv } from './env.js';

const setting = (name: string, ...given: Parameters<typeof parseEnv>) =>
  effectiveSettings(parseEnv(...given)).find((one) => one.name === name);

describe(readSettingTexts.name, () => {
  it('reads the group, the whole comment and the default of every setting', () => {
    const texts = readSettingTexts(readFileSync('.env.example', 'utf8'));
    expect([...texts.keys()].toSorted()).toEqual(Object.keys(envSchema.shape).toSorted());
    expect(texts.get('MCP_AGGREGATOR_PORT')).toEqual({
      group: 'Where it runs',
      description: 'Port to listen on; 0 takes any free one',
      default: '8081',
    });
    expect(texts.get('MCP_AGGREGATOR_REPLICA_URL')?.description).toMatch(/^Where .* pod IP$/);
    for (const { group, description } of texts.values()) {
      expect(group).not.toBe('');
      expect(description).not.toBe('');
    }
  });
});

describe(effectiveSettings.name, () => {
  it('gives the value in effect and where it comes from', () => {
    expect(setting('MCP_AGGREGATOR_PORT', {})).toMatchObject({
      value: '8081',
      default: '8081',
      isSet: false,
      source: 'default',
    });
    const given = { MCP_AGGREGATOR_PORT: '9000' };
    expect(setting('MCP_AGGREGATOR_PORT', given)).toMatchObject({
      value: '9000',
      isSet: true,
      source: 'environment',
    });
    const names = new Set(['MCP_AGGREGATOR_PORT']);
    const sourceOf = (origins: Parameters<typeof parseEnv>[1]) =>
      setting('MCP_AGGREGATOR_PORT', given, origins)?.source;
    expect(sourceOf({ inFile: names })).toBe('file');
    expect(sourceOf({ inFile: names, inCommand: names })).toBe('command');
    expect(setting('MCP_AGGREGATOR_SHUTDOWN_DELAY', {})?.value).toBeNull();
  });

  it('never gives a secret', () => {
    const secret = 'a-secret-that-no-caller-sees';
    const env = parseEnv({
      MCP_AGGREGATOR_TOKENS: `ci:read:${secret}`,
      MCP_CREDENTIAL_KEY: secret,
      MCP_CREDENTIAL_KEY_PREVIOUS: secret,
      EMBEDDINGS_API_KEY: secret,
      QDRANT_API_KEY: secret,
      LLM_API_KEY: secret,
      DATABASE_URL: `postgres://user:${secret}@db.example/main?password=${secret}`,
      DATABASE_DIRECT_URL: `postgres://${secret}@db.example/main`,
      QDRANT_URL: `https://q:${secret}@qdrant.example:6333`,
      EMBEDDINGS_URL: `https://llm.example/v1?key=${secret}`,
    });
    const settings = effectiveSettings(env);
    expect(JSON.stringify(settings)).not.toContain(secret);
    const valueOf = (name: string) => settings.find((one) => one.name === name)?.value;
    expect(valueOf('DATABASE_URL')).toBe('postgres://********@db.example/main?********');
    expect(settings.find((one) => one.name === 'MCP_CREDENTIAL_KEY')).toMatchObject({
      value: null,
      isSecret: true,
      isSet: true,
    });
  });
});
