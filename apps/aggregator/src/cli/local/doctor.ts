import { Command } from '@commander-js/extra-typings';
import { fail, type Finding, ok, warn } from '../../doctor/finding.js';
import { CliError, exitCodes } from '../exit-codes.js';
import type { RestClient } from '../rest-client.js';
import { coloured, type Screen, visible } from '../screen.js';
import type { CommandResult, Perform } from '../session.js';

export type ClientOf = (url: string) => RestClient;

const COLOUR_WORDS = { ok: 'healthy', warn: 'degraded', fail: 'unhealthy' } as const;

/** `clientOf`: of the service that was found, which need not be the one that other commands ask. */
export function doctorCommand(perform: Perform, clientOf: ClientOf) {
  return new Command('doctor')
    .description(
      'check everything that the service needs, and say what to do; exits with 1 on a failure',
    )
    .addHelpText(
      'after',
      '\nRun it where the service runs, with its settings; the service may be stopped.',
    )
    .action(() => perform(() => doctor(clientOf)));
}

async function doctor(clientOf: ClientOf): Promise<CommandResult> {
  const { examine } = await import('../../doctor/examine.js');
  const findings = await examine((url) => serversOf(clientOf(url)));
  const isFailed = findings.some(({ outcome }) => outcome === 'fail');
  return {
    json: { checks: findings },
    text: (screen) => findings.map((finding) => lineOf(finding, screen)).join('\n'),
    exitCode: isFailed ? exitCodes.failed : exitCodes.ok,
  };
}

function lineOf({ check, outcome, detail, remedy }: Finding, screen: Screen): string {
  const word = coloured(COLOUR_WORDS[outcome], outcome.padEnd(4), screen);
  const line = `${word}  ${visible(check)}: ${visible(detail)}`;
  return remedy === undefined ? line : `${line}\n      ${visible(remedy)}`;
}

/** Of the running service, with the token of the data folder. */
async function serversOf(rest: RestClient): Promise<readonly Finding[]> {
  try {
    const { items } = await rest.list(
      (api, page) => api.listServers({ query: page }),
      ({ servers }) => servers,
    );
    return items.map(({ name, status, error_message: problem, tool_count: tools }) => {
      const check = `server ${name}`;
      if (status === 'CONNECTED' && !problem) return ok(check, `connected, ${tools} tools`);
      if (status === 'DISCONNECTED') return ok(check, 'is not to be connected');
      const found = status === 'ERROR' ? fail : warn;
      return found(check, status, problem ?? `See switchboard servers timeline ${name}.`);
    });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [warn('servers', 'the service does not list them', error.message)];
  }
}
