import { StaticModel } from '@app/vectors';
import { seedSkills } from '../../../../migrations/1763470100000-skills.js';
import type { Assignment } from '../skills/skill.js';
import { SkillHead } from '../skills/skill-head.js';
import { SkillScorer } from './skill-scorer.js';

const model = StaticModel.load();
const skills = seedSkills.map((skill) => ({ ...skill, description: '', isActive: true }));
const scorer = new SkillScorer(skills, model, SkillHead.load(model.id));

const highest = (scores: readonly Assignment[] | undefined): string | undefined =>
  scores?.toSorted((a, b) => b.confidence - a.confidence)[0]?.skillId;
const confidenceOf = (scores: readonly Assignment[] | undefined, skill: string): number =>
  scores?.find(({ skillId }) => skillId === skill)?.confidence ?? 0;

const best = (vector: Float32Array | undefined): string | undefined =>
  vector && highest(scorer.score(vector));

describe(SkillScorer, () => {
  it.each([
    ['create pull request. Open a pull request on GitHub', 'version_control'],
    ['query. Run a SQL query against PostgreSQL', 'databases'],
    ['forecast. Weather forecast for a city', 'weather_env'],
    ['send message. Send a Slack message to a channel', 'communication'],
  ])('classifies %j', (text, skill) => {
    expect(best(model.embed(text))).toBe(skill);
  });

  it('uses the server for a vague tool', () => {
    const tools = ['run. Run it', 'list tables. List all tables', 'describe. Columns of a table'];
    const [run] = scorer.scoreTools('postgres. PostgreSQL database server', tools);
    expect(highest(run)).toBe('databases');
  });

  it('uses the other tools of a server as context', () => {
    const peers = ['list tables. List all tables', 'query. Run SQL on a PostgreSQL database'];
    const [run] = scorer.scoreTools('db.', ['run. Run it'], ['run. Run it', ...peers]);
    expect(highest(run)).toBe('databases');
  });

  it('is surer of a tool whose peers agree', () => {
    const text = 'get page. Get a page of results';
    const peers = ['list tables. List all tables', 'query. Run SQL on a PostgreSQL database'];
    const [alone] = scorer.scoreTools('db.', [text]);
    const [among] = scorer.scoreTools('db.', [text], [text, ...peers]);
    expect(confidenceOf(among, 'databases')).toBeGreaterThan(confidenceOf(alone, 'databases'));
  });

  it('classifies each tool by itself on a server that collects tools of many services', () => {
    const collected = [
      ['forecast. Weather forecast for a city', 'weather_env'],
      ['create pull request. Open a pull request on GitHub', 'version_control'],
      ['query. Run a SQL query against PostgreSQL', 'databases'],
      ['send message. Send a Slack message to a channel', 'communication'],
      ['translate. Translate text into another language', 'language'],
      ['stock price. Price of a share at the stock exchange', 'finance'],
      ['directions. Route between two places on a map', 'maps_travel'],
      ['recipe. Cook food from ingredients', 'commerce'],
      ['chess. Play a game of chess', 'games_sports'],
      ['lamp. Switch the lights of a smart home', 'iot_hardware'],
    ] as const;
    const scores = scorer.scoreTools(
      'collection.',
      collected.map(([text]) => text),
    );
    expect(scores.map(highest)).toEqual(collected.map(([, skill]) => skill));
  });

  it('keeps every confidence between 0 and 1', () => {
    for (const { confidence } of scorer.score(
      model.embed('anything at all') ?? new Float32Array(),
    )) {
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThan(1);
    }
  });

  it('finds a skill without trained weights by its prototypes', () => {
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
