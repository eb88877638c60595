/**
 * `npm run release -- 2.1.0`: gives that version to everything that says one, and to what is unreleased in the changelog.
 * Commits, tags and publishes nothing: what it has changed is looked at first, and the tag starts the workflow that does
 * the rest. A second run with the same version changes nothing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** What says the version beside the packages themselves, and how it stands there, `VERSION` being the old one. */
const PLACES = [
  'deploy/README.md',
  'deploy/compose/compose.yaml',
  'deploy/docker/Dockerfile',
  'deploy/helm/soda/values.yaml',
  'deploy/helm/soda/Chart.yaml',
  'docs/operations.md',
  'docs/zh/operations.md',
  'executor-sdk/executor-options.ts',
];
const FORMS = [
  'soda-master:VERSION',
  'soda-executor-ffmpeg:VERSION',
  '/soda:VERSION',
  'soda-node/VERSION',
  'image.version="VERSION"',
  'ersion: VERSION',
  'ersion: "VERSION"',
];
/** What pages say until there is a first release. */
const UNPUBLISHED = /not on\s+a\s+registry\s+yet|还没有发布到 npm/;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const [version = ''] = process.argv.slice(2);
const root = JSON.parse(readText('package.json'));
const old = root.version;
const problem = problemOf(version);
if (problem !== null) fail(problem);
if (version === old) {
  console.log(`Everything is at ${version} already.`);
  process.exit(0);
}

const pages = [
  'README.md',
  'README.zh-CN.md',
  'docs/how-to/install.md',
  ...root.workspaces.map(readmeOf),
];
const untrue = pages.filter((page) => existsSync(page) && UNPUBLISHED.test(readText(page)));
if (untrue.length > 0) {
  fail(
    `After a release it is not true that a package is not on a registry yet: ${untrue.join(', ')}.`,
  );
}

/** Written once all are known to have what is looked for: a run that fails leaves everything as it was. */
const changed = new Map();
const before = new Map();
change('CHANGELOG.md', (text) => {
  const [, unreleased = ''] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[)/m.exec(text) ?? [];
  if (unreleased.trim() === '') fail('The changelog says of nothing that it is unreleased.');
  const today = new Date().toISOString().slice(0, 10);
  return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today}\n`);
});
for (const folder of ['.', ...root.workspaces]) {
  change(`${folder}/package.json`, (text) => {
    const own = text.replace(`"version": "${old}"`, `"version": "${version}"`);
    return own.replace(/("@soda-scheduler\/[\w-]+": )"[^"]+"/g, `$1"${version}"`);
  });
}
for (const file of PLACES) {
  change(file, (text) => {
    const next = FORMS.reduce(
      (all, form) => all.replaceAll(form.replace('VERSION', old), form.replace('VERSION', version)),
      text,
    );
    if (next === text) fail(`${file} does not say ${old} where it should.`);
    return next;
  });
}
for (const [file, text] of changed) writeFileSync(file, text);
const npm = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
if (spawnSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) {
  for (const [file, text] of before) writeFileSync(file, text);
  fail('npm could not write package-lock.json: everything is as it was.');
}
console.log(`Everything is at ${version} now, where it was at ${old}. Next:

  npm test
  git commit -am "Release ${version}"
  git tag v${version}`);

/** Null: it may be the next one. */
function problemOf(wanted) {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(wanted);
  if (parts === null) return 'Say which version, such as: npm run release -- 2.1.0';
  const [now, next] = [old, wanted].map((one) => one.split('.').map(Number));
  const at = next.findIndex((part, place) => part !== now[place]);
  return at >= 0 && next[at] < now[at] ? `${wanted} is before ${old}.` : null;
}

function change(file, by) {
  const text = readText(file);
  before.set(file, text);
  changed.set(file, by(text));
}

function readText(file) {
  return readFileSync(file, 'utf8');
}

function readmeOf(folder) {
  return `${folder}/README.md`;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
