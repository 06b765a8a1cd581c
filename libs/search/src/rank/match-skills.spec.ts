import type { MappedSkill } from '@app/classification';
import { matchSkills } from './match-skills.js';

const skill = (id: string, ...vector: number[]): MappedSkill => ({
  id,
  name: id,
  toolCount: 1,
  vector: Float32Array.from(vector),
});
const skills = [skill('files', 1, 0), skill('mail', 0, 1), skill('maps', 0, 0)];
const skillsOf = (id: number): readonly string[] =>
  [['files'], ['mail', 'files'], ['maps']][id - 1] ?? [];
const scores = (ranked: [number, number][], query?: Float32Array, threshold = 0.4) =>
  matchSkills(
    skills,
    query,
    ranked.map(([id, score]) => ({ id, score })),
    threshold,
    skillsOf,
  ).map(({ id, score }) => [id, Math.round(score * 100) / 100]);

describe(matchSkills, () => {
  it('gives a skill the score of its best tool', () => {
    expect(
      scores([
        [2, 0.9],
        [1, 0.8],
        [3, 0.5],
      ]),
    ).toEqual([
      ['files', 0.9],
      ['mail', 0.9],
      ['maps', 0.5],
    ]);
  });

  it('leaves out skills whose tools are below the threshold', () => {
    expect(
      scores([
        [1, 0.8],
        [3, 0.3],
      ]),
    ).toEqual([['files', 0.8]]);
  });

  it('finds a skill that the query is near to, whatever its tools score', () => {
    expect(
      scores(
        [
          [1, 0.5],
          [2, 0.2],
        ],
        Float32Array.of(0, 1),
      ),
    ).toEqual([
      ['mail', 0.6],
      ['files', 0.5],
    ]);
  });
});
