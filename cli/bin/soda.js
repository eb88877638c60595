#!/usr/bin/env node
// The command itself is compiled; this file is here before that, so that it can be linked.
import { statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

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

/** A file of a package in the clone. */
const at = (path) => new URL(`../../${path}`, import.meta.url);
/** When it was written; 0: it is not there. */
const writtenAt = (path) => statSync(at(path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** As `tsc` writes it. */
const MODULES = new URL('../dist/soda.js', import.meta.url);
/** The same in few files, as `scripts/build.mjs` writes them from what `tsc` has written. */
const BUNDLE = 'cli/dist/soda.bundle.js';
/** What `tsc` writes whenever it has written any of it. */
const COMPILED = [
  'address-policy/dist/address-policy.tsbuildinfo',
  'cli/dist/cli.tsbuildinfo',
  'client/dist/client.tsbuildinfo',
  'master/dist/domain.tsbuildinfo',
  'master/dist/master.tsbuildinfo',
  'protocol/dist/protocol.tsbuildinfo',
];

function isBundled() {
  const bundledAt = writtenAt(BUNDLE);
  return bundledAt > 0 && COMPILED.every((file) => writtenAt(file) <= bundledAt);
}

// Node 22 can keep what it has compiled: here, where only those can write who may change the program.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compiled', import.meta.url)));

const command = isBundled() ? at(BUNDLE) : MODULES;
// The others need fewer, and nobody wants to wait for the report.
const isMaster = ['master', 'dev'].includes(process.argv[2] ?? '');
if (statSync(command, { throwIfNoEntry: false }) === undefined)
  refuse('not built yet; run this first: npm run build', 1);
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
