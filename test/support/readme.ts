import { readFileSync } from 'node:fs';

/** The first block of commands under that heading of the README. */
export function commandsOf(heading: string): string {
  const [, section = ''] = readFileSync('README.md', 'utf8').split(`## ${heading}\n`);
  const [, commands = ''] = /```sh\n([^]*?)```/.exec(section) ?? [];
  return commands;
}
