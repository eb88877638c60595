/**
 * `npm start`: makes a fresh clone ready (packages, build) and runs the demo in this process.
 * Plain JavaScript without packages, because it runs before there are any.
 */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const NODE_MIN = [20, 19];
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(`Soda Scheduler needs Node ${NODE_MIN.join('.')} or newer; this is ${process.version}.`);
}
if (packagesAreMissing()) {
  await step('Installing packages', 'npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund']);
}
// The demo needs the examples; who has seen it will want the `soda` command next.
const build = ['scripts/build.mjs', 'cli', 'examples'];
await step('Building', process.execPath, build);
await import('../examples/dist/demo/main.js');

/** npm writes the inner lockfile last, so it tells when the packages were installed. */
function packagesAreMissing() {
  const installed = 'node_modules/.package-lock.json';
  if (!existsSync(installed)) return true;
  return statSync('package-lock.json').mtimeMs > statSync(installed).mtimeMs;
}

/** Shows one line while the program runs; what it says, only if it fails. */
async function step(title, program, args) {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32' && program === 'npm',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-20_000);
    });
  }
  const clear = showSpinner(title);
  const problem = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? null : `ended with code ${code}`));
  });
  clear();
  if (problem !== null) fail(`${output.trim()}\n\n${title} failed: ${program} ${problem}.`);
}

/** Returns what ends it. Without a terminal the title is printed once. */
function showSpinner(title) {
  if (!process.stdout.isTTY) {
    console.log(`${title} ...`);
    return () => {};
  }
  let frame = 0;
  const draw = () => process.stdout.write(`\r  ${FRAMES[frame++ % FRAMES.length]} ${title} `);
  draw();
  const timer = setInterval(draw, 80);
  return () => {
    clearInterval(timer);
    process.stdout.write('\r\x1b[K');
  };
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
