import { firstMatching, ruleIssues } from './query-rule.js';

const everywhere = (): boolean => true;
const rules = [
  { pattern: 'documentation|docs|library|package', servers: ['context7'] },
  { pattern: 'code|function|class|method', servers: ['serena'] },
  { pattern: '.*', servers: ['context7', 'serena', 'memory'] },
];

describe(firstMatching, () => {
  it('is the first rule whose pattern is found in the question, in any case', () => {
    expect(firstMatching(rules, 'Which LIBRARY has this function?', everywhere)).toBe(rules[0]);
    expect(firstMatching(rules, 'Where is this function?', everywhere)).toBe(rules[1]);
    expect(firstMatching(rules, 'Hello', everywhere)).toBe(rules[2]);
  });

  it('passes over rules that name no server that is there', () => {
    const isThere = (server: string): boolean => server === 'memory';
    expect(firstMatching(rules, 'docs', isThere)).toBe(rules[2]);
    expect(firstMatching(rules.slice(0, 2), 'docs', isThere)).toBeUndefined();
  });

  it('takes linear time for patterns that other engines choke on', () => {
    const evil = [{ pattern: '^(a+)+$', servers: ['a'] }];
    const started = performance.now();
    expect(firstMatching(evil, `${'a'.repeat(9_999)}!`, everywhere)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe(ruleIssues, () => {
  it('refuses patterns that cannot be matched in linear time, and broken ones, at their place', () => {
    for (const pattern of ['(?=a)b', '(a)\\1', '(', '[z-a]']) {
      expect(ruleIssues([...rules, { pattern, servers: ['a'] }])).toEqual([
        {
          loc: ['body', 'rules', 3, 'pattern'],
          msg: expect.stringContaining('RE2 syntax'),
          type: 'value_error',
        },
      ]);
    }
    expect(ruleIssues(rules)).toEqual([]);
  });
});
