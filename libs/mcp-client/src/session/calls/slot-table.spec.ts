import { SlotTable } from './slot-table.js';
import { RequestIds } from './request-ids.js';
import fc from 'fast-check';

const numberedBy = (guessable: boolean): SlotTable<{ readonly id: number }> => {
  const ids = new RequestIds(guessable);
  return new SlotTable(() => ids.next());
};

describe(SlotTable.name, () => {
  it.each([true, false])(
    'gives every id once, and finds what is present while items come and go (guessable: %s)',
    (guessable) => {
      fc.assert(
        fc.property(fc.array(fc.nat(3), { maxLength: 500 }), (steps) => {
          const numbered = numberedBy(guessable);
          const present: { readonly id: number }[] = [];
          const gone: { readonly id: number }[] = [];
          for (const step of steps) {
            if (step === 0 && present.length > 0) {
              const [item] = present.splice(present.length >> 1, 1);
              if (!item) continue;
              numbered.remove(item);
              gone.push(item);
            } else {
              const item = { id: numbered.nextId() };
              numbered.add(item);
              present.push(item);
            }
          }
          const given = [...present, ...gone].map(({ id }) => id);
          expect(new Set(given).size).toBe(given.length);
          expect(numbered.size).toBe(present.length);
          expect(new Set(numbered.all())).toEqual(new Set(present));
          for (const item of present) expect(numbered.get(item.id)).toBe(item);
          for (const item of gone) expect(numbered.get(item.id)).toBeUndefined();
        }),
      );
    },
  );

  it('finds nothing for an invented id', () => {
    const numbered = numberedBy(true);
    const item = { id: numbered.nextId() };
    numbered.add(item);
    for (const id of [String(item.id), item.id + 64, item.id + 0.5, -1, Number.NaN]) {
      expect(numbered.get(id)).toBeUndefined();
    }
  });
});
