/**
 * The rules of style that no linter here can express: sizes of folders, names of files, header
 * comments, links of the documents, and tests that were switched off and forgotten.
 */
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ignored = new Set(['node_modules', 'dist', '.git', '.soda', 'data', 'coverage', 'vendor']);

const LINES_MAX = 400;
const FILES_PER_FOLDER_MAX = 15;
const BANNED_WORD = /(^|[-.])(utils?|helpers?|managers?|base|common|services?|impl|misc)([-.]|$)/;

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (ignored.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [relative(root, path)];
  });
}

const files = filesUnder(root);
const sources = files.filter((file) => /\.(tsx?|mjs)$/.test(file));
const tests = sources.filter((file) => file.startsWith('test/'));
const shipped = sources.filter((file) => !file.startsWith('test/'));
const documents = files.filter((file) => file.endsWith('.md'));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Links to other files, without their anchors; those inside code do not count. */
function linksOf(document: string): string[] {
  const prose = read(document)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** How comments may name a file: whole, or without folders that go without saying. */
function endingsOf(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, at) => parts.slice(at).join('/'));
}

describe('tidy', () => {
  it('finds the sources and the documents', () => {
    expect(shipped).to.include('master/domain/model/task.ts');
    expect(tests).to.include('test/unit/tidy.test.ts');
    expect(documents).to.include('docs/README.md');
  });

  it('keeps files short', () => {
    const long = sources.filter((file) => read(file).split('\n').length - 1 > LINES_MAX);
    expect(long).to.deep.equal([]);
  });

  it('keeps folders small', () => {
    const counts = new Map<string, number>();
    for (const file of sources) {
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    const full = [...counts].filter(([, count]) => count > FILES_PER_FOLDER_MAX);
    expect(full).to.deep.equal([]);
  });

  it('names files and folders for what they hold', () => {
    const vague = sources
      .map((file) => file.replace(/^test\/helpers\//, 'test/'))
      .filter((file) => file.split('/').some((part) => BANNED_WORD.test(part)));
    expect(vague).to.deep.equal([]);
  });

  it('names files in kebab-case', () => {
    const odd = sources.filter((file) => !/^\.?[a-z0-9]+([-.][a-z0-9]+)*$/.test(basename(file)));
    expect(odd).to.deep.equal([]);
  });

  it('begins every file with what it is responsible for', () => {
    const mute = sources.filter((file) => !/^(#!.*\n)?\s*(\/\*\*|\/\/)/.test(read(file)));
    expect(mute).to.deep.equal([]);
  });

  it('has no dead link in its documents', () => {
    const dead = documents.flatMap((document) =>
      linksOf(document)
        .filter((target) => !existsSync(join(root, dirname(document), target)))
        .map((target) => `${document}: ${target}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('names no file in a comment that is not there', () => {
    const there = new Set(files.flatMap((file) => endingsOf(file)));
    const dead = sources.flatMap((file) =>
      [...read(file).matchAll(/^ *(?:\/?\*|\/\/).*/gm)]
        .flatMap(([comment]) => [...comment.matchAll(/`([\w./-]+\.(?:ts|mjs|md))`/g)])
        .filter(([, named = '']) => !there.has(named))
        .map(([, named]) => `${file}: ${named}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('says in the page on the architecture what each room of the master is for', () => {
    const page = read('docs/architecture.md');
    const rooms = ['domain', 'application'].flatMap((layer) =>
      readdirSync(join(root, 'master', layer), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `\`${layer}/${name}/\``),
    );
    expect(rooms).to.include('`domain/steps/`');
    expect(rooms.filter((room) => !page.includes(room))).to.deep.equal([]);
  });

  it('lists every page of docs/ in its index', () => {
    const linked = new Set(linksOf('docs/README.md').map((target) => join('docs', target)));
    const pages = documents.filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
    const lost = pages.filter((page) => !linked.has(page));
    expect(lost).to.deep.equal([]);
  });

  it('ships dependencies with a digest, and a licence that asks for no more than a notice', () => {
    interface Locked {
      readonly [key: string]: unknown;
      readonly integrity?: string;
      readonly license?: string;
    }
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, Locked>;
    };
    const shippedPackages = Object.entries(packages).filter(
      ([path, { link, dev, devOptional }]) =>
        path.startsWith('node_modules/') && !(link ?? dev ?? devOptional),
    );
    expect(shippedPackages).to.have.length.above(50);
    const free = /^(MIT(-0)?|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|Unlicense|BlueOak-1\.0\.0)$/;
    const odd = shippedPackages.filter(
      ([, { integrity = '', license = '' }]) =>
        !integrity.startsWith('sha512-') || !free.test(license),
    );
    expect(odd.map(([path]) => path)).to.deep.equal([]);
  });

  it('has no test that is switched off by name', () => {
    // What depends on the machine calls `this.skip()` or chooses `describe.skip` by a condition.
    const off = /\b(?:(?:it|describe|context)\.(?:skip|only)|x(?:it|describe))\(/;
    expect(tests.filter((file) => off.test(read(file)))).to.deep.equal([]);
  });
});
