import { texts } from '../../texts/index.js';

export interface ConfigLine {
  readonly label: string;
  readonly value: string;
}

const t = texts.servers.form;

/** A masked connection configuration in lines: what is run or called, and what is sent along. */
export function configLines(config: Readonly<Record<string, unknown>>): ConfigLine[] {
  const { command, args, cwd, url, base_url: baseUrl, env, headers, oauth } = config;
  const run = typeof command === 'string' ? [command, ...textsIn(args)].map(quoted).join(' ') : '';
  const address = typeof baseUrl === 'string' ? baseUrl : typeof url === 'string' ? url : '';
  return [
    { label: t.command, value: run },
    { label: t.url, value: address },
    { label: t.cwd, value: typeof cwd === 'string' ? cwd : '' },
    ...pairsIn(env, '='),
    ...pairsIn(headers, ': '),
    ...pairsIn(oauth, ': '),
  ].filter(({ value }) => value !== '');

  function pairsIn(record: unknown, sign: string): ConfigLine[] {
    if (typeof record !== 'object' || record === null) return [];
    const label = record === env ? t.env.label : record === headers ? t.headers.label : 'OAuth';
    const lines = Object.entries(record).map(([name, value]) => `${name}${sign}${String(value)}`);
    return [{ label, value: lines.join('\n') }];
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** As a shell would need it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./${}*-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
