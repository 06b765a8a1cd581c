// The server that the conformance suite expects to find: node fixture-server.mjs legacy|modern [port]
// Names, texts and schemas are those its scenarios ask for.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const [era = 'legacy', port = '0'] = process.argv.slice(2);
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const textResource = (uri, value, mimeType = 'text/plain') => ({ uri, mimeType, text: value });
const user = (content) => ({ role: 'user', content });
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

/** Tools whose result never changes. */
const plainTools = {
  test_simple_text: text('This is a simple text response for testing.'),
  test_image_content: { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] },
  test_audio_content: { content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [
      {
        type: 'resource',
        resource: textResource('test://embedded-resource', 'This is an embedded resource content.'),
      },
    ],
  },
  test_multiple_content_types: {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: textResource(
          'test://mixed-content-resource',
          '{"test":"data","value":123}',
          'application/json',
        ),
      },
    ],
  },
  test_streaming_elicitation: text('nothing but this result is on the stream'),
};

const jsonSchema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const schemaWithDefaults = object(
  {
    name: { type: 'string', description: 'User name', default: 'John Doe' },
    age: { type: 'integer', description: 'User age', default: 30 },
    score: { type: 'number', description: 'User score', default: 95.5 },
    status: {
      type: 'string',
      description: 'User status',
      enum: ['active', 'inactive', 'pending'],
      default: 'active',
    },
    verified: { type: 'boolean', description: 'Verification status', default: true },
  },
  [],
);

const titled = (...names) => names.map(([value, title]) => ({ const: value, title }));
const schemaWithEnums = object(
  {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: titled(['value1', 'First'], ['value2', 'Second'], ['value3', 'Third']),
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    },
    titledMulti: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titled(['value1', 'First'], ['value2', 'Second'], ['value3', 'Third']) },
    },
  },
  [],
);

const nameIn = (answers, key) => {
  const name = acceptedContent(answers, key)?.name;
  return typeof name === 'string' ? name : '';
};

/** Questions in the results of the 2026-07-28 revision. */
const askName = inputRequired.elicit({
  message: 'What is your name?',
  requestedSchema: object({ name: { type: 'string' } }),
});
const askOk = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: object({ ok: { type: 'boolean' } }),
});
const askModel = (question, maxTokens) =>
  inputRequired.createMessage({
    messages: [user({ type: 'text', text: question })],
    maxTokens,
  });

const askingTools = {
  test_missing_capability: (answers) =>
    answers.llm_answer
      ? text('sampled')
      : inputRequired({ inputRequests: { llm_answer: askModel('Reply with: pong', 16) } }),
  test_input_required_result_elicitation: (answers) => {
    const name = nameIn(answers, 'user_name');
    return name
      ? text(`Hello, ${name}!`)
      : inputRequired({ inputRequests: { user_name: askName } });
  },
  test_input_required_result_sampling: (answers) =>
    answers.capital_question
      ? text(`Sampling response: ${answers.capital_question.content?.text}`)
      : inputRequired({
          inputRequests: { capital_question: askModel('What is the capital of France?', 100) },
        }),
  test_input_required_result_list_roots: (answers) =>
    Array.isArray(answers.client_roots?.roots)
      ? text(`Client exposed ${answers.client_roots.roots.length} root(s)`)
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }),
  test_input_required_result_request_state: async (answers, ctx) => {
    if (acceptedContent(answers, 'confirm') && ctx.mcpReq.requestState()) {
      return text('state-ok: requestState verified and confirmation received');
    }
    return inputRequired({
      inputRequests: { confirm: askOk },
      requestState: await states.mint({ nonce: randomUUID() }),
    });
  },
  test_input_required_result_tampered_state: async (answers, ctx) => {
    if (acceptedContent(answers, 'confirm') && ctx.mcpReq.requestState()) {
      return text('integrity-ok: requestState verified');
    }
    return inputRequired({
      inputRequests: { confirm: askOk },
      requestState: await states.mint({ nonce: randomUUID() }),
    });
  },
  test_input_required_result_multiple_inputs: async (answers) => {
    const name = nameIn(answers, 'user_name');
    if (name && answers.greeting && answers.client_roots) {
      return text(`${answers.greeting.content?.text} ${name}`);
    }
    return inputRequired({
      inputRequests: {
        user_name: askName,
        greeting: askModel('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ nonce: randomUUID() }),
    });
  },
  test_input_required_result_multi_round: async (answers, ctx) => {
    const { round = 0, name } = ctx.mcpReq.requestState() ?? {};
    if (round === 0) {
      return inputRequired({
        inputRequests: { step1: askName },
        requestState: await states.mint({ round: 1, nonce: randomUUID() }),
      });
    }
    if (round === 1) {
      const given = nameIn(answers, 'step1');
      const askColour = inputRequired.elicit({
        message: 'What is your favorite color?',
        requestedSchema: object({ color: { type: 'string' } }),
      });
      return inputRequired({
        inputRequests: { step2: askColour },
        requestState: await states.mint({ round: 2, name: given, nonce: randomUUID() }),
      });
    }
    const { color } = acceptedContent(answers, 'step2') ?? {};
    return text(`Multi-round complete: ${name} likes ${String(color)}`);
  },
  test_input_required_result_capabilities: (answers, ctx) => {
    const declared = ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = {
      ...(declared.elicitation && { user_name: askName }),
      ...(declared.sampling && { greeting: askModel('Generate a short greeting', 50) }),
      ...(declared.roots && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(answers).length > 0 || Object.keys(inputRequests).length === 0
      ? text('nothing left to ask')
      : inputRequired({ inputRequests });
  },
};

/** Asks the client in the middle of a call, as revisions before 2026-07-28 do. */
const elicit = async (ctx, message, requestedSchema) => {
  const { action, content } = await ctx.mcpReq.send({
    method: 'elicitation/create',
    params: { message, requestedSchema },
  });
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
};

function createServer(notify) {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: (state, ctx) => states.verify(state, ctx) },
    },
  );
  const tool = (name, inputSchema, handler) =>
    server.registerTool(name, { description: `Conformance: ${name}`, inputSchema }, handler);
  const nothing = z.object({});

  for (const [name, result] of Object.entries(plainTools)) tool(name, nothing, () => result);
  for (const [name, ask] of Object.entries(askingTools)) {
    tool(name, nothing, (_args, ctx) => ask(ctx.mcpReq.inputResponses ?? {}, ctx));
  }
  tool('test_error_handling', nothing, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_tool_with_logging', nothing, async (_args, ctx) => {
    for (const data of [
      'Tool execution started',
      'Tool processing data',
      'Tool execution completed',
    ]) {
      await ctx.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      await pause(50);
    }
    return text('Tool with logging executed successfully');
  });
  tool('test_logging_tool', nothing, async (_args, ctx) => {
    await ctx.mcpReq.log('info', 'only for who asked for a level');
    return text('logged');
  });
  tool('test_tool_with_progress', nothing, async (_args, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const message = `Completed step ${progress} of 100`;
      const params = { progressToken, progress, total: 100, message };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      await pause(50);
    }
    return text(String(progressToken ?? 'no token'));
  });
  tool('test_sampling', z.object({ prompt: z.string() }), async ({ prompt }, ctx) => {
    const messages = [user({ type: 'text', text: prompt })];
    const answer = await ctx.mcpReq.send({
      method: 'sampling/createMessage',
      params: { messages, maxTokens: 100 },
    });
    return text(`LLM response: ${answer.content?.text}`);
  });
  tool('test_elicitation', z.object({ message: z.string() }), async ({ message }, ctx) => {
    const schema = object({ response: { type: 'string', description: "User's response" } });
    return text(`User response: ${await elicit(ctx, message, schema)}`);
  });
  tool('test_elicitation_sep1034_defaults', nothing, async (_args, ctx) =>
    text(`Elicitation completed: ${await elicit(ctx, 'Please review', schemaWithDefaults)}`),
  );
  tool('test_elicitation_sep1330_enums', nothing, async (_args, ctx) =>
    text(`Elicitation completed: ${await elicit(ctx, 'Please select', schemaWithEnums)}`),
  );
  tool('json_schema_2020_12_tool', fromJsonSchema(jsonSchema2020), (args) =>
    text(JSON.stringify(args)),
  );
  tool(
    'test_x_mcp_header',
    fromJsonSchema(
      object(
        { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
        [],
      ),
    ),
    ({ region }) => text(`region=${region}`),
  );
  tool('test_trigger_tool_change', nothing, () => {
    notify?.toolsChanged();
    return text('told');
  });
  tool('test_trigger_prompt_change', nothing, () => {
    notify?.promptsChanged();
    return text('told');
  });

  const resource = (name, uri, mimeType, read) =>
    server.registerResource(
      name,
      uri,
      { title: name, description: name, mimeType },
      async (url, variables) => ({
        contents: [{ uri: url.toString(), mimeType, ...read(variables) }],
      }),
    );
  resource('static-text', 'test://static-text', 'text/plain', () => ({
    text: 'This is the content of the static text resource.',
  }));
  resource('static-binary', 'test://static-binary', 'image/png', () => ({ blob: PIXEL }));
  resource('watched-resource', 'test://watched-resource', 'text/plain', () => ({
    text: 'Watched resource content',
  }));
  resource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    'application/json',
    ({ id }) => ({
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }),
  );
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.server.setRequestHandler('logging/setLevel', () => ({}));
  }

  const prompt = (name, argsSchema, messages) =>
    server.registerPrompt(
      name,
      { title: name, description: `Conformance: ${name}`, ...(argsSchema && { argsSchema }) },
      messages,
    );
  prompt('test_simple_prompt', undefined, () => ({
    messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })],
  }));
  prompt(
    'test_prompt_with_arguments',
    z.object({ arg1: z.string(), arg2: z.string() }),
    ({ arg1, arg2 }) => ({
      messages: [
        user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
      ],
    }),
  );
  prompt(
    'test_prompt_with_embedded_resource',
    z.object({ resourceUri: z.string() }),
    ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: textResource(resourceUri, 'Embedded resource content for testing.'),
        }),
        user({ type: 'text', text: 'Please process the embedded resource above.' }),
      ],
    }),
  );
  prompt('test_prompt_with_image', undefined, () => ({
    messages: [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      user({ type: 'text', text: 'Please analyze the image above.' }),
    ],
  }));
  prompt('test_input_required_result_prompt', undefined, (ctx) => {
    const context = acceptedContent(ctx.mcpReq.inputResponses ?? {}, 'user_context')?.context;
    if (typeof context === 'string') {
      return { messages: [user({ type: 'text', text: `Use the following context: ${context}` })] };
    }
    const askContext = inputRequired.elicit({
      message: 'What context should the prompt use?',
      requestedSchema: object({ context: { type: 'string' } }),
    });
    return inputRequired({ inputRequests: { user_context: askContext } });
  });

  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}

function legacyListener() {
  const sessions = new Map();
  return async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (!transport && id) return void response.writeHead(404).end();
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (created) => void sessions.set(created, transport),
        onsessionclosed: (closed) => void sessions.delete(closed),
      });
      await createServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  };
}

function modernListener() {
  const handler = createMcpHandler(() => createServer(handler.notify), { legacy: 'reject' });
  return toNodeHandler(handler);
}

const serve = era === 'legacy' ? legacyListener() : modernListener();
const listener = http.createServer((request, response) => {
  const host = new URL(`http://${request.headers.host}`).hostname;
  const { origin } = request.headers;
  const isLocal = (name) => ['127.0.0.1', 'localhost', '[::1]'].includes(name);
  if (!isLocal(host) || (origin && !isLocal(new URL(origin).hostname))) {
    return void response.writeHead(403).end();
  }
  void serve(request, response);
});
listener.listen(Number(port), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
});
