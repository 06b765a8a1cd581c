import { MockLanguageModelV3 } from 'ai/test';

/** Stands in for a language model: searches for a tool, calls the best one with the numbers of the prompt, answers. */
export const scriptedModel = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const question = prompt.find(({ role }) => role === 'user').content[0].text;
    const [found, called] = prompt.filter(({ role }) => role === 'tool').map(textOfResult);
    if (called !== undefined) return answer({ type: 'text', text: called }, 'stop');
    if (found === undefined) return call('search_tools', { query: question, limit: 3 });
    const [{ name }] = JSON.parse(found).tools;
    const [a, b] = question.match(/\d+/g).map(Number);
    return call('call_tool', { name, arguments: { a, b } });
  },
});

function textOfResult({ content: [{ output }] }) {
  return output.value.find(({ type }) => type === 'text').text;
}

function call(toolName, input) {
  const content = {
    type: 'tool-call',
    toolCallId: toolName,
    toolName,
    input: JSON.stringify(input),
  };
  return answer(content, 'tool-calls');
}

function answer(content, reason) {
  return {
    content: [content],
    finishReason: { unified: reason, raw: reason },
    usage: { inputTokens: { total: 0 }, outputTokens: { total: 0 } },
    warnings: [],
  };
}
