import { asksForCall } from './call-scope.js';

const request = (method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});

describe(asksForCall.name, () => {
  it.each(['initialize', 'ping', 'server/discover', 'tools/list', 'resources/templates/list'])(
    'needs no call scope: %s',
    (method) => expect(asksForCall(request(method), 'other')).toBe(false),
  );

  it.each(['tools/call', 'prompts/get', 'resources/read', 'completion/complete', 'unheard/of'])(
    'needs the call scope, also in a batch: %s',
    (method) => {
      expect(asksForCall(request(method), 'other')).toBe(true);
      expect(asksForCall([request('ping'), request(method)], 'other')).toBe(true);
    },
  );

  it('lets read-only own tools run on the endpoint that offers them, and only there', () => {
    const search = request('tools/call', { name: 'search_tools' });
    expect(asksForCall(search, 'search')).toBe(false);
    expect(asksForCall(search, 'other')).toBe(true);
    expect(asksForCall(request('tools/call', { name: 'call_tool' }), 'search')).toBe(true);
  });

  it('allows answers, notifications, and bodies that are no message', () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const body of [{ jsonrpc: '2.0', id: 1, result: {} }, notification, 'text', undefined]) {
      expect(asksForCall(body, 'other')).toBe(false);
    }
  });
});
