import { extname } from 'node:path';
import { UnreadableConfigFile } from './config-file.js';

/**
 * The text of a configuration file as JSON: that of a YAML file is rewritten, any other is returned unchanged. Throws
 * UnreadableConfigFile, whose message is a clause ("it is …").
 */
export async function jsonTextOf(text: string, file: string): Promise<string> {
  if (!/^\.ya?ml$/i.test(extname(file))) return text;
  // Imported on demand: it takes a megabyte, and few files are YAML.
  const { parse, YAMLParseError } = await import('yaml');
  try {
    const value: unknown = parse(text, { logLevel: 'error', stringKeys: true });
    return JSON.stringify(value ?? {});
  } catch (cause) {
    // Only the position is reported: the parser's message may quote a secret from the file.
    const at = cause instanceof YAMLParseError ? cause.linePos?.[0] : undefined;
    const place = at ? `: see line ${at.line}, column ${at.col}` : '';
    throw new UnreadableConfigFile(`it is not valid YAML${place}`, { cause });
  }
}
