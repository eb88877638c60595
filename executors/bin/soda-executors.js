#!/usr/bin/env node
// The program itself is compiled; this file is here before that, so that it can be linked.
import { existsSync } from 'node:fs';

const program = new URL('../dist/soda-executors.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  console.error('soda-executors: not built yet; run this first: npm run build');
  process.exitCode = 1;
}
