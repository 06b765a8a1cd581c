import { Command } from '@commander-js/extra-typings';
import { openPage } from './open-page.js';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';

export function loginCommand(perform: Perform, env: Readonly<Record<string, string | undefined>>) {
  return new Command('login')
    .description('print a link that logs a browser in at the console, once')
    .option('--open', 'open it in the browser of this machine')
    .action(({ open }) => perform((rest) => login(rest, open === true, env)));
}

async function login(
  rest: RestClient,
  isOpened: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CommandResult> {
  const link = await rest.ask((api) => api.makeLoginLink());
  const problem = isOpened ? await openPage(link.url, env) : undefined;
  const until = new Date(link.expires_at).toLocaleTimeString('en-GB');
  const lines = [
    `Open this in a browser until ${until}. It works once, and logs in as ${link.name}:`,
    link.url,
    ...(problem === undefined ? [] : [problem]),
  ];
  return { json: link, text: lines.join('\n') };
}
