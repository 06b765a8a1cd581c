import { StaticModel } from '@app/vectors';
import { SkillHead } from './skill-head.js';

const head = SkillHead.load(StaticModel.load().id);

describe('the confidence in a skill', () => {
  it.each([0, 0.5, 1])('grows with its share among all skills (context %p)', (topic) => {
    const confidences = [0.1, 0.3, 0.5, 0.7, 0.9].map((share) => head.calibrate(share, 1, topic));
    expect(confidences).toEqual(confidences.toSorted((a, b) => a - b));
    for (const confidence of confidences) {
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThan(1);
    }
  });

  it('is higher among tools of a topic when one skill competes than when all do a bit', () => {
    expect(head.calibrate(0.6, 0.5, 1)).toBeGreaterThan(head.calibrate(0.6, 3, 1));
  });

  it('is a number also for a share of nothing or of all', () => {
    for (const share of [0, 1]) expect(head.calibrate(share, 0, 1)).not.toBeNaN();
  });
});
