import { readFileSync } from 'node:fs';
import { installedFolder } from '../files/installed-folder.js';
import { type Env, envSchema, sourceOf } from './env.js';

/** `file`: `.env` in the working directory. `command`: the command line. */
export type SettingSource = 'default' | 'environment' | 'file' | 'command';

export interface EffectiveSetting {
  readonly name: string;
  readonly group: string;
  readonly description: string;
  /** As it is written in a file of settings; null for a secret, and for what is not set and has no default. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  readonly source: SettingSource;
  readonly default: string | null;
}

/** What `.env.example` says of a setting; a test compares it with the schema. */
export interface SettingText {
  readonly group: string;
  readonly description: string;
  readonly default: string | null;
}

const SECRET = /(?:_KEY|_KEY_PREVIOUS|_TOKENS|_HEADERS|_SECRET)$/;
const WITH_CREDENTIALS = /(?:URL|_ENDPOINT)$/;

/** Every setting of this process, in the order of `.env.example`; without secrets. */
export function effectiveSettings(env: Env): readonly EffectiveSetting[] {
  const texts = readSettingTexts(
    readFileSync(installedFolder('.env.example', import.meta.url), 'utf8'),
  );
  return [...texts]
    .filter(([name]) => name in envSchema.shape)
    .map(([name, text]) => {
      const { source, value: given } = sourceOf(env, name);
      const isSecret = SECRET.test(name);
      const value = given ?? text.default;
      return {
        name,
        ...text,
        value: isSecret || value === null ? null : withoutCredentials(name, value),
        isSecret,
        isSet: source !== 'default',
        source,
      };
    });
}

export function readSettingTexts(file: string): ReadonlyMap<string, SettingText> {
  const texts = new Map<string, SettingText>();
  let group = '';
  let comment: string[] = [];
  for (const line of file.split('\n')) {
    const [, name, value] = /^#([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (line.startsWith('## ')) group = line.slice(3);
    if (name !== undefined && value !== undefined) {
      texts.set(name, { group, description: comment.join(' '), default: value || null });
    }
    comment = line.startsWith('# ') ? [...comment, line.slice(2)] : [];
  }
  return texts;
}

/** A URL may have a user, a password or a key in its query. */
function withoutCredentials(name: string, value: string): string {
  if (!WITH_CREDENTIALS.test(name)) return value;
  if (!URL.canParse(value)) return '********';
  const url = new URL(value);
  const query = url.search && '?********';
  const user = url.username || url.password ? '********@' : '';
  return `${url.protocol}//${user}${url.host}${url.pathname}${query}`;
}
