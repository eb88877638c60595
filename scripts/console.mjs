/**
 * Builds the console into `master/dist/console/`, from where the master serves it: a page, a script, a style, and scripts
 * that are loaded once a page needs them. Their names have a digest of what is in them, so that browsers may keep them.
 * What is there already is left alone.
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
import { basename, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Of all files together that a page needs to begin, as they are sent. */
const GZIPPED_BYTES_MAX = 60 * 1024;
/** A page loads one of these. */
const LANGUAGES = ['words/en.ts', 'words/zh.ts'];
const SOURCES = 'console';
const FOLDER = 'master/dist/console';
const INDEX = join(FOLDER, 'index.html');

/** @returns whether it stands: what is wrong was said. */
export async function buildConsole() {
  if (isFresh()) return true;
  // Loaded here: most builds need none.
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: { app: join(SOURCES, 'main.tsx'), style: join(SOURCES, 'style/style.css') },
    outdir: FOLDER,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    // What a page imports once it needs it stays apart.
    splitting: true,
    minify: true,
    charset: 'utf8',
    write: false,
    metafile: true,
    format: 'esm',
    target: ['es2023', 'chrome123', 'firefox124', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The licences of what is in it go with it.
    banner: {
      js: '/*! Preact, MIT, Copyright (c) 2015-present Jason Miller; uPlot, MIT, Copyright (c) Leon Sorokin */',
    },
    logLevel: 'warning',
  });
  const files = new Map(
    outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
  );
  const icon = readFileSync(join(SOURCES, 'icon.svg'));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  files.set(iconName, icon);
  const [script, style] = ['main.tsx', 'style/style.css'].map((entry) =>
    madeOf(join(SOURCES, entry), metafile),
  );
  const page = readFileSync(join(SOURCES, 'index.html'), 'utf8')
    .replace('SCRIPT', basename(script))
    .replace('STYLE', basename(style))
    .replace('ICON', iconName);
  files.set(basename(INDEX), Buffer.from(page));
  const first = [...neededBy(script, metafile), style, INDEX, iconName].map((path) =>
    files.get(basename(path)),
  );
  const languages = LANGUAGES.map((source) =>
    files.get(basename(madeOf(join(SOURCES, source), metafile))),
  );
  const size =
    first.reduce((sum, bytes) => sum + zippedSize(bytes), 0) +
    Math.max(...languages.map(zippedSize));
  if (size > GZIPPED_BYTES_MAX) {
    console.error(`The console has ${size} bytes gzipped; it may have ${GZIPPED_BYTES_MAX}.`);
    return false;
  }
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  // The page last: without it the build begins anew.
  for (const [name, bytes] of files) writeFileSync(join(FOLDER, name), bytes);
  return true;
}

const zippedSize = (bytes) => gzipSync(bytes).length;

/** What was written of a source that nothing imports, or that is imported later. */
function madeOf(source, { outputs }) {
  const [path = ''] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source);
  return path;
}

/** A script and all that it begins with: not what it may import later. */
function neededBy(script, { outputs }) {
  const needed = outputs[script].imports
    .filter(({ kind }) => kind === 'import-statement')
    .flatMap(({ path }) => neededBy(path, { outputs }));
  return [...new Set([script, ...needed])];
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
