// node upstream-stdio.mjs [tools]: the same server over standard input and output.
import { callResult, echoTools, initializeResult } from './upstream-tools.mjs';

const list = JSON.stringify({ tools: echoTools(Number(process.argv[2] ?? 10)) });
let unread = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (unread + text).split('\n');
  unread = lines.pop();
  let answers = '';
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined && method) {
      answers += `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcomeOf(method, params)}}\n`;
    }
  }
  if (answers) process.stdout.write(answers);
});
process.stdin.on('end', () => process.exit(0));

function outcomeOf(method, params) {
  switch (method) {
    case 'tools/call':
      return `"result":${callResult(params)}`;
    case 'tools/list':
      return `"result":${list}`;
    case 'initialize':
      return `"result":${JSON.stringify(initializeResult)}`;
    case 'ping':
      return '"result":{}';
    default:
      return '"error":{"code":-32601,"message":"Method not found"}';
  }
}
