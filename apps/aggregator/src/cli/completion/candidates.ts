import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';

/** What may stand at the end of a command line; `names` are looked up at the service. */
export type Wanted =
  | { readonly kind: 'words'; readonly words: readonly Candidate[] }
  | { readonly kind: 'names'; readonly of: NameKind; readonly prefix: string }
  | { readonly kind: 'files' }
  | { readonly kind: 'nothing' };

export interface Candidate {
  readonly word: string;
  readonly description: string;
}

const NAME_KINDS = ['server', 'tool', 'skill', 'client', 'view'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** The position of the current word, given the words before it. */
interface Place {
  readonly command: CommandUnknownOpts;
  /** Arguments given so far. */
  readonly operands: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
  readonly isAfterDashes: boolean;
}

/** What may follow `words`, the words after the program; the last one is being typed. */
export function wantedAt(program: CommandUnknownOpts, words: readonly string[]): Wanted {
  const current = words.at(-1) ?? '';
  const place = placeAfter(program, words.slice(0, -1));
  const { command, option, isAfterDashes } = place;
  if (isAfterDashes) return { kind: 'files' };
  if (option) return valuesOf(placeholderOf(option), option.argChoices, '');
  const [, flag, value] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
  const assigned = value === undefined ? undefined : optionOf(command, flag ?? '');
  if (assigned) return valuesOf(placeholderOf(assigned), assigned.argChoices, `${flag}=`);
  if (current.startsWith('-')) return { kind: 'words', words: flagsOf(command) };
  if (command.commands.length > 0) return { kind: 'words', words: commandsOf(command) };
  const args = command.registeredArguments;
  const last = args.at(-1);
  const arg = args[place.operands] ?? (last?.variadic ? last : undefined);
  return arg ? valuesOf(arg.name(), arg.argChoices, '') : { kind: 'nothing' };
}

function placeAfter(program: CommandUnknownOpts, words: readonly string[]): Place {
  let command = program;
  let operands = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option) {
      option = undefined;
    } else if (word === '--') {
      return { command, operands, option, isAfterDashes: true };
    } else if (word.startsWith('-') && word !== '-') {
      const found = optionOf(command, word);
      option = found?.required ? found : undefined;
    } else {
      const inner = command.commands.find((one) => one.name() === word);
      if (inner) command = inner;
      else operands++;
    }
  }
  return { command, operands, option, isAfterDashes: false };
}

function optionOf(command: CommandUnknownOpts, flag: string): Option | undefined {
  const found = command.options.find((option) => option.long === flag || option.short === flag);
  return found ?? (command.parent ? optionOf(command.parent, flag) : undefined);
}

/** `server` in `--server <server>`. */
function placeholderOf(option: Option): string {
  return /<(\w+)/.exec(option.flags)?.[1] ?? '';
}

function valuesOf(name: string, choices: readonly string[] | undefined, prefix: string): Wanted {
  if (choices) {
    const words = choices.map((word) => ({ word: prefix + word, description: '' }));
    return { kind: 'words', words };
  }
  const of = NAME_KINDS.find((kind) => kind === name);
  if (of) return { kind: 'names', of, prefix };
  return name === 'file' || name === 'folder' ? { kind: 'files' } : { kind: 'nothing' };
}

function flagsOf(command: CommandUnknownOpts): Candidate[] {
  const own = command.options
    .filter((option) => !option.hidden)
    .map((option) => ({ word: option.long ?? option.flags, description: option.description }));
  const help = { word: '--help', description: 'show usage' };
  return [...own, ...(command.parent ? flagsOf(command.parent) : [help])];
}

function commandsOf(command: CommandUnknownOpts): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ word: one.name(), description: one.description() }));
}
