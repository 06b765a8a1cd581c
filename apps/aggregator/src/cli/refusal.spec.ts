import { exitCodes } from './exit-codes.js';
import { refusalOf, unreachable } from './refusal.js';

const URL = 'http://127.0.0.1:8081';

describe(refusalOf.name, () => {
  it.each([
    [401, { error_code: 'UNAUTHORIZED', detail: 'x' }, 'unauthorized', /--token/],
    [403, { error_code: 'FORBIDDEN', detail: 'needs admin' }, 'unauthorized', /^needs admin$/],
    [404, { error_code: 'SERVER_NOT_FOUND', detail: 'no x' }, 'notFound', /^no x$/],
    [409, { error_code: 'SERVER_ALREADY_EXISTS', detail: 'twice' }, 'failed', /^twice$/],
    [503, { error_code: 'SERVER_UNAVAILABLE', detail: 'away' }, 'failed', /^away$/],
    [404, '<h1>Not Found</h1>', 'unreachable', /is not Switchboard/],
    [404, { message: 'Not Found' }, 'unreachable', /is not Switchboard/],
    [502, '<h1>Bad Gateway</h1>', 'unreachable', /answered HTTP 502.*proxy/],
  ] as const)('ends %i %j as %s', (status, body, code, said) => {
    const error = refusalOf(URL, status, body);
    expect(error.exitCode).toBe(exitCodes[code]);
    expect(error.message).toMatch(said);
  });

  it('describes each refused field in a sentence', () => {
    const detail = [
      { loc: ['body', 'name'], msg: 'Must not be empty', type: 'value_error' },
      { loc: ['connection_config', 'args', 0], msg: 'Must be text.', type: 'value_error' },
      { loc: ['body'], msg: 'Must be an object', type: 'value_error' },
    ];
    expect(refusalOf(URL, 422, { error_code: 'VALIDATION_ERROR', detail }).message).toBe(
      'name: Must not be empty.\nconnection_config.args.0: Must be text.\nMust be an object.',
    );
  });

  it('names the candidates of an ambiguous tool', () => {
    const body = {
      error_code: 'TOOL_AMBIGUOUS',
      detail: 'Several',
      context: { candidates: ['a.x', 'b.x'] },
    };
    expect(refusalOf(URL, 400, body).message).toBe('Several\nCandidates: a.x, b.x');
  });

  it('bounds what it shows, without control characters', () => {
    const body = { error_code: 'EXECUTION_FAILED', detail: `\u001B[2J${'x'.repeat(100_000)}` };
    const { message } = refusalOf(URL, 502, body);
    expect(message.length).toBeLessThan(3_000);
    expect(message).not.toContain('\u001B');
  });
});

describe(unreachable.name, () => {
  it('names the command to start the service, and the reason unless the connection was refused', () => {
    const refused = new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    });
    expect(unreachable(URL, refused).message).toBe(
      `There is no service at ${URL}. Start it with "npm start", or set its address with --url.`,
    );
    const unknown = new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND x') });
    expect(unreachable(URL, unknown).message).toContain(`${URL} (getaddrinfo ENOTFOUND x). Start`);
  });
});
