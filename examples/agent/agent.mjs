import { createMCPClient } from '@ai-sdk/mcp';
import { generateText, stepCountIs } from 'ai';
import { scriptedModel as model } from './scripted-model.mjs';

const { SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: token } = process.env;
const prompt = process.argv[2] ?? 'add 2 and 40';

const mcp = await createMCPClient({
  transport: {
    type: 'http',
    url: new URL('/mcp/search', url).href,
    headers: { Authorization: `Bearer ${token}` },
  },
});
try {
  const { text } = await generateText({
    model,
    prompt,
    tools: await mcp.tools(),
    stopWhen: stepCountIs(5),
    onStepFinish: ({ toolCalls }) => {
      for (const { toolName, input } of toolCalls) console.log(toolName, JSON.stringify(input));
    },
  });
  console.log(text);
} finally {
  await mcp.close();
}
