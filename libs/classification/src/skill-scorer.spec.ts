import { StaticModel } from '@app/vectors';
import { seedSkills } from '../../../migrations/1763470100000-skills.js';
import { SkillHead } from './skill-head.js';
import { SkillScorer } from './skill-scorer.js';

const model = StaticModel.load();
const skills = seedSkills.map((skill) => ({ ...skill, description: '', isActive: true }));
const scorer = new SkillScorer(skills, model, SkillHead.load(model.id));

const best = (vector: Float32Array | undefined): string | undefined =>
  vector && scorer.score(vector).sort((a, b) => b.confidence - a.confidence)[0]?.skillId;

describe(SkillScorer, () => {
  it.each([
    ['create pull request. Open a pull request on GitHub', 'version_control'],
    ['query. Run a SQL query against PostgreSQL', 'databases'],
    ['forecast. Weather forecast for a city', 'weather_env'],
    ['send message. Send a Slack message to a channel', 'communication'],
  ])('knows what %j is', (text, skill) => {
    expect(best(model.embed(text))).toBe(skill);
  });

  it('lets the server say what a vague tool is about', () => {
    const tools = ['run. Run it', 'list tables. List all tables', 'describe. Columns of a table'];
    const [run] = scorer.inContext('postgres. PostgreSQL database server', tools);
    expect(best(run)).toBe('databases');
  });

  it('lets the peers of a tool say what its server is about', () => {
    const peers = ['list tables. List all tables', 'query. Run SQL on a PostgreSQL database'];
    const [run] = scorer.inContext('db.', ['run. Run it'], peers);
    expect(best(run)).toBe('databases');
  });

  it('gives every confidence between 0 and 1', () => {
    for (const { confidence } of scorer.score(
      model.embed('anything at all') ?? new Float32Array(),
    )) {
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThan(1);
    }
  });

  it('finds a skill that the head was never trained on, by its prototypes', () => {
    const astrology = {
      id: 'astrology',
      name: 'Astrology',
      description: '',
      prototypes: ['horoscopes, zodiac signs, birth charts and planets in astrology'],
      isActive: true,
    };
    const wider = new SkillScorer([...skills, astrology], model, SkillHead.load(model.id));
    const vector = model.embed('zodiac. Horoscope of a zodiac sign and its planets');
    const sorted = wider
      .score(vector ?? new Float32Array())
      .sort((a, b) => b.confidence - a.confidence);
    expect(sorted[0]?.skillId).toBe('astrology');
  });
});
