import { newSessionId, ownedState, ownerOfCall, ownerOfSession, sealedIn } from './owners.js';

const self = '01234567-89ab-4cde-8f01-23456789abcd';
const cluster = { self, hasOthers: true, stateKeys: [Buffer.alloc(32)] as [Buffer] };

describe('the id of a session', () => {
  it('names its replica, if there are several', () => {
    expect(ownerOfSession(newSessionId(cluster))).toBe(self);
    expect(newSessionId(undefined)).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(ownerOfSession(newSessionId(undefined))).toBeUndefined();
    expect(newSessionId(cluster)).not.toBe(newSessionId(cluster));
  });

  it.each([
    undefined,
    7,
    '',
    'x',
    `.${self}`,
    `${self}${self}`,
    `${self}x${self}`,
    `${self}.${self}x`,
    `x${self}.${self}`,
    `${self}.${self.replace('a', 'g')}`,
  ])('names no replica in %j', (id) => expect(ownerOfSession(id)).toBeUndefined());
});

describe('the state of a call', () => {
  it('names the replica at which the call waits, if there are several', () => {
    expect(sealedIn(ownedState('a-b_C', cluster))).toEqual({ sealed: 'a-b_C', owner: self });
    expect(sealedIn(ownedState('a~b', cluster))).toEqual({ sealed: 'a~b', owner: self });
    expect(ownedState('a-b_C', undefined)).toBe('a-b_C');
    expect(sealedIn('a-b_C')).toEqual({ sealed: 'a-b_C', owner: undefined });
  });

  it.each(['', `.${self}`, `a.b.${self}`, `a.${self}x`, `a!.${self}`, `a${self}`])(
    'names no replica in %j',
    (state) => expect(sealedIn(state)).toEqual({ sealed: state, owner: undefined }),
  );

  it('is read from the body of a request', () => {
    const bodyWith = (requestState: unknown) => ({ params: { requestState } });
    expect(ownerOfCall(bodyWith(`a.${self}`))).toBe(self);
    for (const body of [
      undefined,
      [],
      'x',
      {},
      { params: 'x' },
      { params: {} },
      bodyWith(7),
      bodyWith('a'),
    ]) {
      expect(ownerOfCall(body)).toBeUndefined();
    }
  });
});
