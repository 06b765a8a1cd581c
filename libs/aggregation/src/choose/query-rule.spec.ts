import { processorMs } from '../../../../test/support/loop-delay.js';
import { firstMatching, ruleIssues } from './query-rule.js';

const everywhere = (): boolean => true;
const rules = [
  { pattern: 'documentation|docs|library|package', servers: ['context7'] },
  { pattern: 'code|function|class|method', servers: ['serena'] },
  { pattern: '.*', servers: ['context7', 'serena', 'memory'] },
];

describe(firstMatching, () => {
  it('is the first rule whose pattern matches the query, ignoring case', () => {
    expect(firstMatching(rules, 'Which LIBRARY has this function?', everywhere)).toBe(rules[0]);
    expect(firstMatching(rules, 'Where is this function?', everywhere)).toBe(rules[1]);
    expect(firstMatching(rules, 'Hello', everywhere)).toBe(rules[2]);
  });

  it('skips rules that name no known server', () => {
    const isThere = (server: string): boolean => server === 'memory';
    expect(firstMatching(rules, 'docs', isThere)).toBe(rules[2]);
    expect(firstMatching(rules.slice(0, 2), 'docs', isThere)).toBeUndefined();
  });

  it('matches in linear time where backtracking takes exponential time', () => {
    const evil = [{ pattern: '^(a+)+$', servers: ['a'] }];
    const spent = processorMs(() => {
      expect(firstMatching(evil, `${'a'.repeat(9_999)}!`, everywhere)).toBeUndefined();
    });
    expect(spent).toBeLessThan(1_000);
  });
});

describe(ruleIssues, () => {
  it('refuses invalid patterns and those that RE2 does not support, with their place', () => {
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

  it('refuses patterns that compile to very long programs', () => {
    for (const pattern of [
      '\\pL{500}'.repeat(60),
      '(?:a{1,30}){1,30}'.repeat(25),
      '(?:x?){1000}'.repeat(40),
    ]) {
      expect(ruleIssues([{ pattern, servers: ['a'] }])).toEqual([
        expect.objectContaining({ msg: expect.stringContaining('Repeats too much') }),
      ]);
    }
    expect(ruleIssues([{ pattern: '\\d{4}-\\d{2}-\\d{2}', servers: ['a'] }])).toEqual([]);
  });
});
