/**
 * `npm run check`: everything a program can say about the code without running it. All steps run,
 * even if one fails, and beside each other: the linter reads the sources of all packages, not what `tsc` emits.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const OXLINT = ['oxlint/bin/oxlint', '--deny-warnings'];
/** About as much work as all else: the linter checks one program after another, each in one thread. */
const TESTS = ['test', 'bench'];

/** What is called for each, at the same time. */
const steps = {
  types: [['typescript/bin/tsc', '-b']],
  format: [['@biomejs/biome/bin/biome', 'format', '.']],
  lint: [
    [...OXLINT, ...TESTS],
    [...OXLINT, ...TESTS.map((folder) => `--ignore-pattern=${folder}`), '.'],
  ],
  unused: [['knip/bin/knip.js', '--no-progress', '--cache']],
};

/** For `tsc` and the linter, which are written in Go: in more memory they need a fifth less time. */
const env = { GOGC: '400', ...process.env };

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Resolves to whether the step passed; prints what it said only if it did not. */
async function run(name) {
  const results = await Promise.all(steps[name].map(call));
  const failed = results.filter(({ code }) => code !== 0);
  if (failed.length > 0) {
    console.log(`--- ${name}\n${failed.map(({ output }) => output.trim()).join('\n')}\n`);
  }
  return failed.length === 0;
}

function call([script, ...args]) {
  const child = spawn(process.execPath, [`node_modules/${script}`, ...args], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.message;
    });
    child.once('close', (code) => resolve({ code, output }));
  });
}

const names = Object.keys(steps);
const passed = await Promise.all(names.map(run));

names.forEach((name, index) => console.log(`${passed[index] ? 'ok  ' : 'FAIL'} ${name}`));
process.exitCode = passed.every(Boolean) ? 0 : 1;
