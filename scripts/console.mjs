/**
 * Builds the console into `master/dist/console/`, from where the master serves it: a page, one script, one style. Their
 * names have a digest of what is in them, so that browsers may keep them. What is there already is left alone.
 *
 * Refuses to make a first load above what the console may have: it is opened at night, over whatever line there is.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, extname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Of all files together, as they are sent. */
const GZIPPED_BYTES_MAX = 60 * 1024;
const SOURCES = 'console';
const FOLDER = 'master/dist/console';
const INDEX = join(FOLDER, 'index.html');

/** @returns whether it stands: what is wrong was said. */
export async function buildConsole() {
  if (isFresh()) return true;
  // Loaded here: most builds need none.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { app: join(SOURCES, 'main.tsx'), style: join(SOURCES, 'style/style.css') },
    outdir: FOLDER,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: ['es2023', 'chrome123', 'firefox124', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The licence of what is in it goes with it.
    banner: { js: '/*! Preact, MIT, Copyright (c) 2015-present Jason Miller */' },
    logLevel: 'warning',
  });
  const files = new Map(
    outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
  );
  files.set('icon.svg', readFileSync(join(SOURCES, 'icon.svg')));
  const named = new Map([...files].map(([name, bytes]) => [hashed(name, bytes), bytes]));
  const nameOf = (extension) => [...named.keys()].find((name) => extname(name) === extension);
  const page = readFileSync(join(SOURCES, 'index.html'), 'utf8')
    .replace('SCRIPT', nameOf('.js'))
    .replace('STYLE', nameOf('.css'))
    .replace('ICON', nameOf('.svg'));
  const all = [...named, ['index.html', Buffer.from(page)]];
  const size = all.reduce((sum, [, bytes]) => sum + gzipSync(bytes).length, 0);
  if (size > GZIPPED_BYTES_MAX) {
    console.error(`The console has ${size} bytes gzipped; it may have ${GZIPPED_BYTES_MAX}.`);
    return false;
  }
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  // The page last: without it the build begins anew.
  for (const [name, bytes] of all) writeFileSync(join(FOLDER, name), bytes);
  return true;
}

function hashed(name, bytes) {
  const digest = createHash('sha256').update(bytes).digest('base64url').replaceAll(/[-_]/g, '');
  const extension = extname(name);
  return `${basename(name, extension)}-${digest.slice(0, 10)}${extension}`;
}

/** Whether nothing was written since that it is made of. */
function isFresh() {
  if (!existsSync(INDEX)) return false;
  const builtAt = statSync(INDEX).mtimeMs;
  const sources = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\b(node_modules|dist)\b/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
  const own = fileURLToPath(import.meta.url);
  // What it takes of the protocol is compiled first.
  const all = [...sources, own, 'protocol/dist/protocol.tsbuildinfo', 'package-lock.json'];
  return all.every((file) => statSync(file).mtimeMs <= builtAt);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  process.exitCode = (await buildConsole()) ? 0 : 1;
}
