import { keptAssignments, skillIdOf } from './skill.js';

describe(keptAssignments, () => {
  const active = new Set(['files', 'media', 'finance', 'security']);
  const answer = (...pairs: [string, number][]) =>
    pairs.map(([skillId, confidence]) => ({ skillId, confidence }));

  it('keeps what is at least half sure, the surest first', () => {
    expect(
      keptAssignments(answer(['files', 0.5], ['media', 0.9], ['finance', 0.49]), active),
    ).toEqual(answer(['media', 0.9], ['files', 0.5]));
  });

  it('keeps at most three', () => {
    const all = answer(['files', 0.9], ['media', 0.8], ['finance', 0.7], ['security', 0.6]);
    expect(keptAssignments(all, active)).toEqual(all.slice(0, 3));
  });

  it('takes no skill twice, none that is unknown, and no confidence that is no number', () => {
    expect(
      keptAssignments(
        answer(
          ['files', 0.6],
          ['files', 0.8],
          ['invented', 1],
          ['media', Number.NaN],
          ['finance', 7],
        ),
        active,
      ),
    ).toEqual(answer(['finance', 1], ['files', 0.8]));
  });
});

describe(skillIdOf, () => {
  it.each([
    ['Knowledge, memory & RAG', 'knowledge_memory_rag'],
    ['  Météo  ', 'meteo'],
    ['3D printing', 'skill_3d_printing'],
    ['占星術', 'skill_'],
  ])('makes of %j the id %s', (name, id) => {
    expect(skillIdOf(name)).toBe(id);
  });
});
