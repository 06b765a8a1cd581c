import { Argument, Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Service } from '../locate-service.js';
import { type Candidate, wantedAt } from './candidates.js';
import { namesOf } from './completable-names.js';
import { FILES, scripts, SHELLS } from './scripts.js';

/** Characters of commands, options and ids; other words need quotes or could run commands in the shell. */
const PLAIN = /^[A-Za-z0-9_.:/=@-]+$/;
const MOST_DESCRIPTION = 80;

export function completionCommand() {
  return new Command('completion')
    .description('print a shell completion script for commands, servers and tools')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      `
To use it now and in every new shell:
  bash  echo 'eval "$(switchboard completion bash)"' >> ~/.bashrc
  zsh   echo 'eval "$(switchboard completion zsh)"' >> ~/.zshrc     (after compinit)
  fish  switchboard completion fish > ~/.config/fish/completions/switchboard.fish`,
    )
    .action((shell) => {
      process.stdout.write(`${scripts[shell]}\n`);
    });
}

/** What the scripts call; `words` are those after the program, the last one is being typed. */
export function completeCommand(program: () => CommandUnknownOpts, locate: () => Service) {
  return new Command('complete').argument('[words...]').action(async (given) => {
    const words = withoutSplit(given);
    const lines = await candidatesFor(program(), words, locate);
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  });
}

async function candidatesFor(
  program: CommandUnknownOpts,
  words: readonly string[],
  locate: () => Service,
): Promise<readonly string[]> {
  const wanted = wantedAt(program, words);
  const current = words.at(-1) ?? '';
  switch (wanted.kind) {
    case 'nothing':
      return [];
    case 'files':
      return [FILES];
    case 'words':
      return linesOf(wanted.words, current);
    case 'names': {
      const { of, prefix } = wanted;
      const names = await namesOf(of, current.slice(prefix.length), locate());
      return linesOf(
        names.map((name) => ({ ...name, word: prefix + name.word })),
        current,
      );
    }
  }
}

function linesOf(candidates: readonly Candidate[], current: string): readonly string[] {
  return candidates
    .filter(({ word }) => word.startsWith(current) && PLAIN.test(word))
    .map(({ word, description }) => {
      const text = description.replace(/[\s\p{C}]+/gu, ' ').slice(0, MOST_DESCRIPTION);
      return `${word}\t${text}`;
    });
}

/** bash splits `--server=notes` into three words. */
function withoutSplit(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word, i) => word === '=' && words[i - 1]?.startsWith('--'));
  if (at === -1) return words;
  const next = words[at + 1] ?? '';
  return withoutSplit([...words.slice(0, at), next, ...words.slice(at + 2)]);
}
