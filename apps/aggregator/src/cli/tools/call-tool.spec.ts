import { membersText } from './call-tool.js';

describe(membersText.name, () => {
  it.each([
    [['n=9007199254740993', 'x=1.0'], '{"n":9007199254740993,"x":1.0}'],
    [['t= a ', 'e=', 'q="5"'], '{"t":" a ","e":"","q":"5"}'],
    [['2=b', '1=a'], '{"2":"b","1":"a"}'],
    [['a=1', 'a=2'], '{"a":2}'],
    [['l=["x"]', 'o={"y":null}', 'b=true'], '{"l":["x"],"o":{"y":null},"b":true}'],
    [['z=01', 'd=2026-01-01'], '{"z":"01","d":"2026-01-01"}'],
    [['__proto__=x'], '{"__proto__":"x"}'],
    [[], '{}'],
  ])('writes %j as %s', (given, expected) => {
    expect(membersText(given)).toBe(expected);
  });
});
