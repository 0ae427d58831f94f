// The floor of reading a stream: what a program prints, cut into lines and parsed, and nothing else.
const { spawn } = require('node:child_process');

const [program, ...args] = process.argv.slice(2);
let parts = [];

spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.on('data', (chunk) => {
  let start = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
    parts.push(chunk.subarray(start, end));
    JSON.parse(parts.length === 1 ? parts[0].toString() : Buffer.concat(parts).toString());
    parts = [];
    start = end + 1;
  }
  if (start < chunk.length) parts.push(chunk.subarray(start));
});
