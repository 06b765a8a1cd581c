import { Command } from '@commander-js/extra-typings';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';
import { table } from './table.js';

export function peopleGroup(perform: Perform) {
  const group = new Command('people').description('who logged in at the identity provider');
  group
    .command('list', { isDefault: true })
    .description('all accounts, the last login first')
    .action(() => perform(listPeople));
  group
    .command('end <id>')
    .description('end an account, with its sessions and clients')
    .action((id) => perform((rest) => endPerson(rest, id)));
  return group;
}

async function listPeople(rest: RestClient): Promise<CommandResult> {
  const { first, items } = await rest.list(
    (api, page) => api.listAccounts({ query: page }),
    ({ people }) => people,
  );
  const rows = items.map((person) => [
    person.label,
    person.role ?? '',
    person.subject,
    person.last_login_at,
    person.active ? person.ends_at : 'has to log in again',
    person.id,
  ]);
  return {
    json: { ...first, people: items },
    text: (screen) =>
      rows.length === 0
        ? 'No person has logged in at an identity provider.'
        : table(['PERSON', 'ROLE', 'SUBJECT', 'LAST LOGIN', 'ENDS', 'ID'], rows, screen),
  };
}

async function endPerson(rest: RestClient, id: string): Promise<CommandResult> {
  await rest.ask((api) => api.endAccount({ path: { id } }));
  const text =
    'Ended, with sessions and clients. Take the role away at the identity provider, or the person can log in again.';
  return { json: { id, ended: true }, text };
}
