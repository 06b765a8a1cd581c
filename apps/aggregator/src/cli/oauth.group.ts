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
  group
    .command('rotate-key')
    .description('sign access tokens with a new key; those of the key before end by themselves')
    .option('--end-others', 'refuse tokens of the keys before at once: others may have one')
    .action(({ endOthers = false }) => perform((rest) => rotateSigningKey(rest, endOthers)));
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

async function rotateSigningKey(rest: RestClient, endOthers: boolean): Promise<CommandResult> {
  const rotated = await rest.ask((api) =>
    api.rotateSigningKey({ body: { end_others: endOthers } }),
  );
  const before = endOthers
    ? 'Tokens of the keys before are refused; clients refresh them.'
    : `Tokens of the key before are accepted until ${rotated.previous_until}.`;
  return { json: { ...rotated }, text: `Tokens are signed with the key ${rotated.kid}. ${before}` };
}
