import { startCommandLine } from '../start/installation.js';
import { CliError, exitCodes } from './exit-codes.js';
import { visible } from './screen.js';

/** Limit for error texts: a proxy may answer with a whole page. */
const MAX_DETAIL_CHARS = 2_000;

/** The error for a refusal of the service, in sentences. */
export function refusalOf(url: string, status: number, body: unknown): CliError {
  if (status === 401) {
    return new CliError(
      'The service requires a token: set --token or SWITCHBOARD_TOKEN, or run this in the folder that holds its data folder. The token of that folder is sent to its own service and to this machine only.',
      exitCodes.unauthorized,
      'UNAUTHORIZED',
    );
  }
  const code = memberOf(body, 'error_code');
  if (typeof code !== 'string') return status < 500 ? anotherProgram(url) : brokenWay(url, status);
  const text = [detailText(memberOf(body, 'detail')), candidatesText(memberOf(body, 'context'))];
  return new CliError(
    visible(text.join('').slice(0, MAX_DETAIL_CHARS)),
    status === 403
      ? exitCodes.unauthorized
      : status === 404
        ? exitCodes.notFound
        : exitCodes.failed,
    code,
  );
}

/** The client of an event stream gets no body of a refusal. */
export function streamRefused(url: string, status: number): CliError {
  if (status === 401) return refusalOf(url, status, undefined);
  if (status === 403) {
    const detail =
      'The token must see every tool (the scope admin, or the whole default view), and admin for the topics audit and policy.';
    return new CliError(detail, exitCodes.unauthorized, 'FORBIDDEN');
  }
  if (status === 404) return new CliError('There is no such server.', exitCodes.notFound);
  const exitCode = status >= 500 ? exitCodes.unreachable : exitCodes.failed;
  return new CliError(`${url} answered HTTP ${status}.`, exitCode);
}

export function unreachable(url: string, cause: unknown): CliError {
  const root = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = memberOf(root, 'code');
  const reason = code === 'ECONNREFUSED' || !(root instanceof Error) ? '' : ` (${root.message})`;
  return new CliError(
    `There is no service at ${url}${visible(reason)}. Start it with "${startCommandLine}", or set its address with --url.`,
    exitCodes.unreachable,
  );
}

export function anotherProgram(url: string): CliError {
  return new CliError(
    `The program at ${url} is not Switchboard. Set the address of the service with --url.`,
    exitCodes.unreachable,
  );
}

/** A 5xx without our error body comes from a proxy in between. */
function brokenWay(url: string, status: number): CliError {
  return new CliError(
    `${url} answered HTTP ${status} without an error of Switchboard. If it is a proxy, check that the service behind it runs.`,
    exitCodes.unreachable,
  );
}

/** One sentence for each refused field. */
function detailText(detail: unknown): string {
  if (!Array.isArray(detail)) return typeof detail === 'string' ? detail : JSON.stringify(detail);
  const issues = detail.map((issue: unknown) => {
    const loc = memberOf(issue, 'loc');
    const path = Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') : '';
    const message = String(memberOf(issue, 'msg')).replace(/\.?$/, '.');
    return path === '' ? message : `${path}: ${message}`;
  });
  return issues.join('\n');
}

function candidatesText(context: unknown): string {
  const candidates = memberOf(context, 'candidates');
  if (!Array.isArray(candidates) || candidates.length === 0) return '';
  return `\nCandidates: ${candidates.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(', ')}`;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
}
