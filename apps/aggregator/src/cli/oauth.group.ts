import { Command } from '@commander-js/extra-typings';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';
import { table } from './table.js';

export function oauthGroup(perform: Perform) {
  const group = new Command('oauth').description('clients that log in with OAuth');
  group
    .command('grants', { isDefault: true })
    .description('clients that may act for you; for administrators, those of everyone')
    .action(() => perform(listOAuthGrants));
  group
    .command('withdraw <id>')
    .description('refuse a client from its next request on')
    .action((id) => perform((rest) => withdrawOAuthGrant(rest, id)));
  return group;
}

async function listOAuthGrants(rest: RestClient): Promise<CommandResult> {
  const { first, items } = await rest.list(
    (api, page) => api.listOAuthGrants({ query: page }),
    ({ grants }) => grants,
  );
  const rows = items.map((grant) => [
    grant.client_domain ?? `${grant.client_name ?? '?'} (unverified)`,
    grant.person,
    grant.scopes.join(' '),
    grant.resource,
    grant.last_used_at ?? grant.created_at,
    grant.id,
  ]);
  return {
    json: { ...first, grants: items },
    text: (screen) =>
      rows.length === 0
        ? 'No client was given access.'
        : table(['CLIENT', 'PERSON', 'SCOPES', 'AT', 'LAST USED', 'ID'], rows, screen),
  };
}

async function withdrawOAuthGrant(rest: RestClient, id: string): Promise<CommandResult> {
  await rest.ask((api) => api.withdrawOAuthGrant({ path: { id } }));
  return { json: { id, withdrawn: true }, text: 'Withdrawn: its next request is refused.' };
}
