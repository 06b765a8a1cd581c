import { subjectOf } from './request-subject.js';

describe(subjectOf, () => {
  it.each([
    ['tools/call', { name: 'a', uri: 'b:' }, 'a'],
    ['prompts/get', { name: 'a', uri: 'b:' }, 'a'],
    ['resources/read', { name: 'a', uri: 'b:' }, 'b:'],
    ['tools/list', { name: 'a', uri: 'b:' }, undefined],
    ['tools/call', { name: 7 }, undefined],
    ['tools/call', {}, undefined],
    ['tools/call', undefined, undefined],
  ])('of %s with %j is %s', (method, params, subject) => {
    expect(subjectOf({ method, params })).toBe(subject);
  });
});
