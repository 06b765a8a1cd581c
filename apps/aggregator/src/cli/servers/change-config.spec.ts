import { withSet, without } from './change-config.js';

describe(withSet.name, () => {
  it.each([
    [{}, 'command=node', { command: 'node' }],
    [{ env: { A: '********' } }, 'env.B=8080', { env: { A: '********', B: '8080' } }],
    [{}, 'env.A={"x":1}', { env: { A: '{"x":1}' } }],
    [{}, 'headers.X.Trace=a=b', { headers: { 'X.Trace': 'a=b' } }],
    [{ args: ['a'] }, 'args=["b", "c"]', { args: ['b', 'c'] }],
    [{}, 'env={"A":"1"}', { env: { A: '1' } }],
    [{}, 'command=[not JSON', { command: '[not JSON' }],
    [{}, 'oauth.client_id=12345', { oauth: { client_id: '12345' } }],
    [
      { oauth: { grant: 'x', issuer: 'y' } },
      'oauth.grant=z',
      { oauth: { issuer: 'y', grant: 'z' } },
    ],
    [{}, 'cwd=', { cwd: '' }],
  ])('changes %j by %s', (config, assignment, expected) => {
    const before = structuredClone(config);
    expect(withSet(config, assignment)).toEqual(expected);
    expect(config).toEqual(before);
  });

  it('sets a member called __proto__ and no prototype', () => {
    const config = withSet({}, 'env.__proto__=x');
    expect(JSON.stringify(config)).toBe('{"env":{"__proto__":"x"}}');
    expect(Object.getPrototypeOf(config['env'])).toBe(Object.prototype);
  });

  it.each([
    ['env', 'env must read NAME=value'],
    ['=x', '=x must read NAME=value'],
    ['a..b=1', 'a..b is not the name of a member'],
    ['command.x=1', 'command.x cannot be changed: command has no members'],
  ])('refuses %s', (assignment, said) => {
    expect(() => withSet({ command: 'node' }, assignment)).toThrow(said);
  });
});

describe(without.name, () => {
  it('removes a member, and nothing where there is none', () => {
    expect(without({ env: { A: '1', B: '2' } }, 'env.A')).toEqual({ env: { B: '2' } });
    expect(without({ cwd: '/x', command: 'a' }, 'cwd')).toEqual({ command: 'a' });
    expect(without({ command: 'a' }, 'cwd')).toEqual({ command: 'a' });
  });
});
