import { atOnce, type JsonObject, type Trust } from '@app/platform';
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
  return atOnce(decideDefinitions({ trust, listed: listed(...now), offered, known }));
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

  it('takes nothing for the first definitions while others wait', () => {
    const known = {
      name: 'a',
      state: 'PENDING' as const,
      approvedHash: null,
      approvedDefinition: null,
      listedHash: pinHashOf(prompt('a')),
    };
    const { offered, newlyWithheld } = decide('pinned', undefined, [prompt('a')], [known]);
    expect([...offered]).toEqual([]);
    expect(newlyWithheld).toEqual([]);
  });

  it('shows a prompt that was renamed as one change', () => {
    const text = 'Plans the garden for a year, bed by bed';
    const before = prompt('plan', text);
    const { withheld, gone } = decide('pinned', [before], [prompt('schedule', text)]);
    expect(withheld).toMatchObject([
      {
        change: {
          name: 'schedule',
          renamedFrom: 'plan',
          changes: [{ path: 'name', before: 'plan', after: 'schedule' }],
        },
      },
    ]);
    const [first] = withheld;
    if (!first) throw new Error('nothing is withheld');
    const { change, listed: now } = first;
    const known: KnownDefinition[] = [
      ...gone.map((one) => ({ ...one, state: 'GONE' as const, listedHash: null })),
      {
        name: change.name,
        state: 'PENDING',
        approvedHash: change.approvedHash,
        approvedDefinition: change.approvedDefinition,
        listedHash: pinHashOf(now.definition),
      },
    ];
    const again = decide('pinned', [], [prompt('schedule', text)], known);
    expect(again.withheld).toMatchObject([{ change: { renamedFrom: 'plan' } }]);
    expect(again.newlyWithheld).toEqual([]);
  });
});
