#!/usr/bin/env node
// The command itself is compiled; this file is here before that, so that it can be linked.
import { existsSync } from 'node:fs';

const command = new URL('../dist/soda.js', import.meta.url);
if (existsSync(command)) {
  await import(command.href);
} else {
  console.error('soda: not built yet; run this first: npm run build');
  process.exitCode = 1;
}
