import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { buildProgram } from './program.js';
import { screenOf } from './screen.js';

const program = buildProgram({
  version: '1.2.3',
  env: {},
  output: (isJson) => ({ isJson, screen: screenOf({}, {}), add: () => undefined }),
});

function namesIn(command: CommandUnknownOpts): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((inner) => inner.name() !== 'help')
    .flatMap((inner) => [inner.name(), ...namesIn(inner).map((name) => `${inner.name()} ${name}`)]);
}

describe(buildProgram.name, () => {
  it('has a command for everything that an operator does', () => {
    expect(namesIn(program)).toEqual([
      'servers',
      ...[
        'list',
        'show',
        'add',
        'test',
        'edit',
        'remove',
        'connect',
        'disconnect',
        'authorize',
      ].map((name) => `servers ${name}`),
      ...['logs', 'events', 'timeline', 'import'].map((name) => `servers ${name}`),
      ...['tools', 'tools list', 'tools show', 'tools reset-learning', 'tools call'],
      ...['approvals', 'approvals list', 'approvals show', 'approvals approve', 'approvals reject'],
      ...['search', 'query'],
      ...['skills', 'skills list', 'skills show'],
      'tokens',
      ...['list', 'create', 'rotate', 'invite', 'revoke'].map((name) => `tokens ${name}`),
      ...['people', 'people list', 'people end'],
      ...['oauth', 'oauth grants', 'oauth withdraw', 'oauth rotate-key'],
      'connections',
      ...['list', 'connect', 'disconnect'].map((name) => `connections ${name}`),
      'views',
      ...['list', 'show', 'create', 'edit', 'clone', 'remove', 'preview'].map(
        (name) => `views ${name}`,
      ),
      ...['grants', 'grants list', 'grants give', 'grants withdraw'],
      ...['overrides', 'overrides list', 'overrides show', 'overrides set', 'overrides remove'],
      ...['access', 'access explain', 'policy', 'policy export', 'policy history'],
      ...['login', 'clients', 'authorize', 'health', 'status'],
      ...['events', 'audit', 'webhooks'],
      ...['list', 'show', 'create', 'edit', 'enable', 'disable', 'remove'].map(
        (name) => `webhooks ${name}`,
      ),
      ...[
        'add',
        'import',
        'call',
        'start',
        'demo',
        'doctor',
        'backup',
        'restore',
        ...['migrate', 'migrate run', 'migrate revert'],
        ...['credentials', 'credentials rotate'],
        'stdio',
        'completion',
      ],
    ]);
  });

  it.each(namesIn(program))('describes %s and its options, and offers --json', (path) => {
    const command = path
      .split(' ')
      .reduce<CommandUnknownOpts>(
        (outer, name) => outer.commands.find((inner) => inner.name() === name) ?? outer,
        program,
      );
    expect(command.description()).not.toBe('');
    expect(command.options.every((option) => option.description !== '')).toBe(true);
    const help = command.helpInformation();
    expect(help).toMatch(new RegExp(`^Usage: switchboard ${path}[ \n]`));
    expect(help).toContain('--json');
    expect(help).toContain('--help');
  });
});
