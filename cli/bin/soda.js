#!/usr/bin/env node
// The command itself is compiled; this file is here before that, so that it can be linked.
import { existsSync } from 'node:fs';

/** With fewer files the modules of a master cannot be loaded, which fails in any words. */
const FILES_MIN = 128;

function filesMax() {
  const { soft = 'unlimited' } = process.report.getReport().userLimits?.open_files ?? {};
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : soft;
}

function refuse(words, exitCode) {
  console.error(`soda: ${words}`);
  process.exitCode = exitCode;
}

const command = new URL('../dist/soda.js', import.meta.url);
// The others need fewer, and nobody wants to wait for the report.
const isMaster = ['master', 'dev'].includes(process.argv[2] ?? '');
if (!existsSync(command)) refuse('not built yet; run this first: npm run build', 1);
else if (isMaster && filesMax() < FILES_MIN) refuseFor(filesMax());
else {
  await import(command.href).catch((error) => {
    if (error.code !== 'EMFILE') throw error;
    refuseFor(filesMax());
  });
}

function refuseFor(count) {
  const how = 'raise that with "ulimit -n 1024", or LimitNOFILE=1024 in a unit of systemd';
  refuse(`this process may have ${count} files open, and needs ${FILES_MIN}: ${how}`, 2);
}
