// node onnx.js MODEL FEATURES [MODEL FEATURES ...]: runs MODEL.onnx on the rows of float32 in
// MODEL.rows, and writes a line a row into MODEL.labels and MODEL.scores.
const ort = require('onnxruntime-node');
const fs = require('fs');

async function run(model, features) {
  const session = await ort.InferenceSession.create(model + '.onnx');
  const bytes = fs.readFileSync(model + '.rows');
  const rows = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const x = new ort.Tensor('float32', rows, [rows.length / features, features]);
  const out = await session.run({x});
  fs.writeFileSync(model + '.labels', Array.from(out.label.data).join('\n') + '\n');
  const columns = out.scores.dims[1];
  if (out.probabilities) {
    fs.writeFileSync(model + '.probabilities',
      Array.from(out.probabilities.data).join('\n') + '\n');
  }
  const lines = [];
  for (let i = 0; i < out.scores.data.length; i += columns) {
    lines.push(Array.from(out.scores.data.slice(i, i + columns)).join(' '));
  }
  fs.writeFileSync(model + '.scores', lines.join('\n') + '\n');
}

(async () => {
  const jobs = process.argv.slice(2);
  for (let i = 0; i < jobs.length; i += 2) await run(jobs[i], +jobs[i + 1]);
})().catch((e) => { console.log(e.message); process.exit(1); });
