import { keptAssignments, skillIdOf } from './skill.js';

describe(keptAssignments, () => {
  const active = new Set(['files', 'media', 'finance', 'security']);
  const answer = (...pairs: [string, number][]) =>
    pairs.map(([skillId, confidence]) => ({ skillId, confidence }));

  it('keeps skills with a confidence of at least 0.5, highest first', () => {
    expect(
      keptAssignments(answer(['files', 0.5], ['media', 0.9], ['finance', 0.49]), active),
    ).toEqual(answer(['media', 0.9], ['files', 0.5]));
  });

  it('keeps at most three', () => {
    const all = answer(['files', 0.9], ['media', 0.8], ['finance', 0.7], ['security', 0.6]);
    expect(keptAssignments(all, active)).toEqual(all.slice(0, 3));
  });

  it('drops duplicate and unknown skills, and invalid confidences', () => {
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
  ])('turns %j into the id %s', (name, id) => {
    expect(skillIdOf(name)).toBe(id);
  });
});
