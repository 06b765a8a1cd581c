import { RequestTimedOut, RpcError, UpstreamRpcError } from '@app/mcp';
import { ToolNotFound } from '@app/routing';
import { ServerUnavailable } from '@app/sessions';
import { toolFailure } from './tool-failure.js';

describe(toolFailure.name, () => {
  it('tells the model what happened on the way, and what to do', () => {
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

  it('warns that a tool may have done its work when time ran out', () => {
    expect(JSON.stringify(toolFailure(new RequestTimedOut('tools/call', 60_000)))).toContain(
      'check before you call it again',
    );
  });

  it.each([
    ['the server’s own error', new UpstreamRpcError({ code: -32_602, message: 'no' })],
    ['a name that means no tool', new ToolNotFound('x')],
    ['an error of the protocol', new RpcError(-32_602, 'no')],
    ['what nobody foresaw', new Error('bug')],
  ])('leaves %s a protocol error', (_, error) => {
    expect(() => toolFailure(error)).toThrow(error);
  });
});
