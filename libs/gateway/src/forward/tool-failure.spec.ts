import { ToolNotFound } from '@app/catalogue';
import { ConnectionLost, CredentialsRefused } from '@app/mcp-client';
import { RpcError, UpstreamRpcError } from '@app/mcp-protocol';
import { DatabaseUnavailable } from '@app/platform';
import { ServerUnavailable } from '@app/sessions';
import { toolFailure } from './tool-failure.js';

describe(toolFailure.name, () => {
  it('states what happened and what to do next', () => {
    const unavailable = new ServerUnavailable({ id: '1', name: 'github', status: 'ERROR' });
    expect(toolFailure(unavailable)).toEqual({
      content: [
        {
          type: 'text',
          text: 'Server unavailable: github. The tools of this server cannot be used at the moment; try again later or use another tool.',
        },
      ],
      isError: true,
    });
  });

  it('states for an interrupted call whether it may be repeated', () => {
    const textAfter = (executed: 'no' | 'unknown') =>
      JSON.stringify(toolFailure(new ConnectionLost('reset', executed)));
    expect(textAfter('unknown')).toContain('a repeated call may execute it twice');
    expect(textAfter('no')).toContain('The tool was not executed.');
    expect(textAfter('unknown')).not.toContain('try again');
  });

  it('reports a refused connection like a server that is down', () => {
    const text = JSON.stringify(toolFailure(new CredentialsRefused(401)));
    expect(text).toContain('cannot be used at the moment; try again later');
  });

  it('does not blame a server when the database of the service is down', () => {
    const text = JSON.stringify(toolFailure(new DatabaseUnavailable('unreachable')));
    expect(text).toContain('The database of this service does not answer. Try again in a moment.');
  });

  it.each([
    ['the server’s own error', new UpstreamRpcError({ code: -32_602, message: 'no' })],
    ['a name that means no tool', new ToolNotFound('x')],
    ['an error of the protocol', new RpcError(-32_602, 'no')],
    ['an unexpected error', new Error('bug')],
  ])('returns %s as a protocol error', (_, error) => {
    expect(() => toolFailure(error)).toThrow(error);
  });
});
