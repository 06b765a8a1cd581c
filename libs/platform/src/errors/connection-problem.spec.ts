import { connectionProblem } from './connection-problem.js';

describe(connectionProblem.name, () => {
  it.each([
    ['ECONNREFUSED', 'Connection refused (ECONNREFUSED)'],
    ['ENOTFOUND', 'Host name not found (ENOTFOUND)'],
  ])('says %s as %s', (code, text) => {
    expect(connectionProblem(Object.assign(new Error('connect 10.0.0.1:80'), { code }))).toBe(text);
  });

  it.each(['EXYZ', 'constructor', undefined])('is undefined for %s', (code) => {
    expect(connectionProblem(Object.assign(new Error('10.0.0.1'), { code }))).toBeUndefined();
  });
});
