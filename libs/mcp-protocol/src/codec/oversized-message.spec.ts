import { BothEnds } from '@app/platform';
import { messageBetween, type OversizedMessage } from './oversized-message.js';

const long = JSON.stringify({ text: `{"id":99,"method":"no"}${'x'.repeat(5_000)}","id":98}` });

function read(message: string): OversizedMessage {
  const ends = new BothEnds('message');
  for (let at = 0; at < message.length; at += 700) {
    ends.add(Buffer.from(message.slice(at, at + 700)));
  }
  return messageBetween(ends);
}

it.each([
  ['in front, as Python writes it', `{"jsonrpc":"2.0","id":5,"result":${long}}`, 5],
  ['at the very front', `{"id": 5, "jsonrpc": "2.0", "result": ${long}}`, 5],
  ['at the end, as Node writes it', `{"result":${long},"jsonrpc":"2.0","id":5}`, 5],
  ['before the end', `{"result":${long},"id":5,"jsonrpc":"2.0"}`, 5],
  ['at the end with space around', `{ "result" : ${long} , "id" : 5 , "jsonrpc" : "2.0" }  `, 5],
  ['as text in front', `{"jsonrpc":"2.0","id":"a-\\"5","result":${long}}`, 'a-"5'],
  ['as text at the end', `{"result":${long},"id":"a5","jsonrpc":"2.0"}`, 'a5'],
  ['after a byte order mark', `\ufeff{"id":5,"result":${long}}`, 5],
  ['of an error', `{"jsonrpc":"2.0","error":{"code":1,"message":${long}},"id":7}`, 7],
])('finds the id of an oversized answer %s', (_name, message, id) => {
  expect(read(message)).toEqual({ isAnswer: true, id });
});

it.each([
  ['inside of the result', `{"jsonrpc":"2.0","result":{"more":${long},"id":5}}`],
  ['inside of a text', `{"jsonrpc":"2.0","result":{"text":${JSON.stringify(long)}}}`],
  ['that is null', `{"jsonrpc":"2.0","error":${long},"id":null}`],
  ['in no message at all', `[${long}]`],
])('takes no id %s', (_name, message) => {
  expect(read(message)).toEqual({ isAnswer: true, id: undefined });
});

it.each([
  ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":${long}}`],
  ['a question', `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":${long}}`],
  ['one that says so at its end', `{"jsonrpc":"2.0","id":5,"params":${long},"method":"x"}`],
])('knows %s is no answer', (_name, message) => {
  expect(read(message).isAnswer).toBe(false);
});
