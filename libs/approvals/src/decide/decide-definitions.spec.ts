import type { JsonObject, Trust } from '@app/platform';
import type { KnownDefinition } from '../approval.js';
import { decideDefinitions } from './decide-definitions.js';
import { pinHashOf } from './pin.js';

interface Prompt extends JsonObject {
  readonly name: string;
}
const prompt = (name: string, description = `plans ${name}`): Prompt => ({ name, description });
const listed = (...definitions: Prompt[]) =>
  definitions.map((definition) => ({
    name: definition.name,
    definition,
    hasHidden: false,
  }));
const offeredOf = (...definitions: Prompt[]) => new Map(definitions.map((one) => [one.name, one]));

function decide(
  trust: Trust,
  before: Prompt[] | undefined,
  now: Prompt[],
  known: KnownDefinition[] = [],
) {
  const offered = before && offeredOf(...before);
  return decideDefinitions({ trust, listed: listed(...now), offered, known });
}

describe(decideDefinitions, () => {
  it.each([
    ['auto', ['a']],
    ['pinned', ['a']],
    ['review', []],
    ['locked', []],
  ] as const)('offers what is listed first with trust %s: %j', (trust, names) => {
    expect([...decide(trust, undefined, [prompt('a')]).offered]).toEqual(names);
  });

  it('withholds a changed prompt with trust pinned, and keeps what was approved', () => {
    const { offered, withheld } = decide(
      'pinned',
      [prompt('a'), prompt('b')],
      [prompt('a', 'other'), prompt('b')],
    );
    expect([...offered]).toEqual(['b']);
    expect(withheld).toMatchObject([
      { isRejected: false, change: { approvedDefinition: prompt('a') } },
    ]);
  });

  it('compares a prompt that left and returned with what was approved', () => {
    const { gone } = decide('pinned', [prompt('a')], []);
    const known = gone.map((one) => ({ ...one, state: 'GONE' as const, listedHash: null }));
    expect([...decide('pinned', [], [prompt('a')], known).offered]).toEqual(['a']);
    expect([...decide('pinned', [], [prompt('a', 'other')], known).offered]).toEqual([]);
    expect([...decide('pinned', undefined, [prompt('b')], known).offered]).toEqual([]);
  });

  it.each([
    ['APPROVED', ['a']],
    ['REJECTED', []],
  ] as const)('does as a person decided about the same definition: %s', (state, names) => {
    const now = prompt('a', 'other');
    const known = {
      name: 'a',
      state,
      approvedHash: pinHashOf(prompt('a')),
      approvedDefinition: prompt('a'),
      listedHash: pinHashOf(now),
    };
    const { offered, settled } = decide('pinned', [], [now], [known]);
    expect([...offered]).toEqual(names);
    expect(settled).toEqual(names);
  });
});
