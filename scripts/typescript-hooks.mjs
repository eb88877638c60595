/**
 * The part of `typescript.mjs` that Node calls for each module, in a thread apart. What one process of a test run has
 * made of a file, the others read from the folder of that run, which `scripts/test.mjs` makes and removes.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

const folder = process.env.SODA_TEST_FOLDER;

/** What is named by its whole path needs no look at the disk. */
export async function resolve(specifier, context, nextResolve) {
  if (!/^\.{1,2}\/.*\.ts$/.test(specifier)) return nextResolve(specifier, context);
  return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  return { format: 'module', source: await sourceOf(url), shortCircuit: true };
}

async function sourceOf(url) {
  const text = readFileSync(new URL(url), 'utf8');
  if (folder === undefined) return transformed(url, text);
  const name = createHash('sha256').update(url).update(text).digest('hex');
  const path = join(folder, `${name}.mjs`);
  try {
    return readFileSync(path, 'utf8');
  } catch {
    const code = await transformed(url, text);
    const own = `${path}.${process.pid}.${threadId}`;
    // As a whole or not at all: others may read it at this moment.
    writeFileSync(own, code);
    renameSync(own, path);
    return code;
  }
}

async function transformed(url, text) {
  // Loaded here: whoever finds all that it needs need not start it.
  const { transform } = await import('esbuild');
  const options = { loader: 'ts', target: 'node20', sourcefile: url };
  const { code } = await transform(text, {
    ...options,
    sourcemap: 'inline',
    sourcesContent: false,
  });
  return code;
}
